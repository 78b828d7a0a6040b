// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// startRegistry runs a registry that ends with the test, and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	program := os.Getenv("REGISTRY")
	if program == "" {
		t.Fatal("REGISTRY is not set: make test-release sets it")
	}
	command := exec.CommandContext(t.Context(), program)
	command.Stderr = os.Stderr
	// It ends with its standard input.
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the registry does not say where it is: %v", err)
	}
	return strings.TrimSpace(address)
}

// checkPush pushes both charts to a registry, and has helm take from there what was
// pushed.
func checkPush(t *testing.T, folder, version string) {
	t.Helper()
	program, charts := os.Getenv("HELM"), "oci://"+startRegistry(t)+"/shardyard/charts"
	for _, chart := range []string{"shardyard", "testnet"} {
		file := chart + "-" + version + ".tgz"
		run(t, folder, program, "push", file, charts, "--plain-http")
		pulled := t.TempDir()
		run(t, pulled, program, "pull", charts+"/"+chart, "--version", version, "--plain-http")
		if read(t, filepath.Join(pulled, file)) != read(t, filepath.Join(folder, file)) {
			t.Errorf("%s is not what was pushed", file)
		}
		if said := run(t, pulled, program, "show", "chart", charts+"/"+chart, "--plain-http"); !strings.Contains(said, "artifacthub.io/images") {
			t.Errorf("%s says in the registry\n%s", chart, said)
		}
	}
}
