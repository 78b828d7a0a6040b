// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	operatorChart = "../../charts/shardyard"
	testnetChart  = "../../charts/testnet"
	samples       = "../../config/samples"
)

// render renders a chart as a release of a name that is no preset's.
func render(t *testing.T, chart string, arguments ...string) []byte {
	t.Helper()
	helm := os.Getenv("HELM")
	if helm == "" {
		t.Fatal("HELM is not set: make test-charts sets it")
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), helm, append([]string{"template", "test", chart}, arguments...)...)
	// What is installed on this machine must not matter: no plugins, no repositories, no cluster.
	home := t.TempDir()
	command.Env = []string{"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "kubeconfig")}
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// writeValues writes a file of values and returns its path.
func writeValues(t *testing.T, values string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
