// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs are the programs under test.
type programs struct {
	shardyard, shardnode string
}

// buildDir is where the command line is built.
var buildDir string

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "shardyard-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

// findPrograms finds the node program and builds the command line. It has to
// happen within a test: go test repeats a test only if something has changed
// that the test imports, or looks at while it runs.
var findPrograms = sync.OnceValues(func() (programs, error) {
	shardnode, err := findShardnode()
	if err != nil {
		return programs{}, err
	}
	shardyard, err := buildShardyard("../../cmd/shardyard")
	return programs{shardyard: shardyard, shardnode: shardnode}, err
})

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

func buildShardyard(sources string) (string, error) {
	entries, err := os.ReadDir(sources)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(sources, entry.Name())); err != nil {
			return "", err
		}
	}
	program := filepath.Join(buildDir, "shardyard")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", program, sources)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build shardyard: %w\n%s", err, output)
	}
	return program, nil
}
