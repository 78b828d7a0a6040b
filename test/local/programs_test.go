// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shardyard and shardnode are the paths of the programs under test.
var shardyard, shardnode string

func TestMain(m *testing.M) {
	code, err := withPrograms(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withPrograms finds the node program and builds the command line.
func withPrograms(run func() int) (code int, err error) {
	if shardnode, err = findShardnode(); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "shardyard-test-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	shardyard = filepath.Join(dir, "shardyard")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", shardyard, "../../cmd/shardyard")
	if output, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build shardyard: %w\n%s", err, output)
	}
	return run(), nil
}

func findShardnode() (string, error) {
	path := os.Getenv("SHARDNODE")
	if path == "" {
		path = "../../bin/shardnode"
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("these tests need the node program, which make build-shardnode makes: %w", err)
	}
	return filepath.Abs(path)
}
