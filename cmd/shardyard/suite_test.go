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

func TestMain(m *testing.M) {
	if os.Getenv(stubborn) != "" {
		os.Exit(interruptible(undoForEver))
	}
	if os.Getenv(hungUp) != "" {
		os.Exit(interruptible(outliveTerminal))
	}
	os.Exit(apiserver.Run(m, func(config *rest.Config) error {
		apiServer = config
		return nil
	}))
}
