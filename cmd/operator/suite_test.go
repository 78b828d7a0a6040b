// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/test/apiserver"
)

// apiServer says how to reach a real API server.
var apiServer *rest.Config

// asProgram has the program of these tests be the operator.
const asProgram = "SHARDYARD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(apiserver.Run(m, func(config *rest.Config) error {
		apiServer = config
		return nil
	}))
}
