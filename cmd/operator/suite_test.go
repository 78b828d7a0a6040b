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

// asProgram has the program of these tests be the operator, and names the file where it
// leaves what the kernel said of it at its end.
const asProgram = "SHARDYARD_TEST_AS_PROGRAM"

// beProgram is the operator.
func beProgram(file string) error {
	main()
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

func TestMain(m *testing.M) {
	if file := os.Getenv(asProgram); file != "" {
		if err := beProgram(file); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(apiserver.Run(m, func(config *rest.Config) error {
		apiServer = config
		return nil
	}))
}
