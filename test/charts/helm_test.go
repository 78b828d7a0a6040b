// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// helm is the helm program with a home of its own, so that what is installed on
// this machine does not matter: no plugins, no repositories, no other cluster.
type helm struct {
	ctx     context.Context
	program string
	home    string
}

// newHelm finds the helm program and points it at a cluster, or at none.
func newHelm(t *testing.T, kubeconfig []byte) helm {
	t.Helper()
	program := os.Getenv("HELM")
	if program == "" {
		t.Fatal("HELM is not set: make test-charts sets it")
	}
	h := helm{ctx: t.Context(), program: program, home: t.TempDir()}
	if err := os.WriteFile(h.kubeconfig(), kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h helm) kubeconfig() string {
	return filepath.Join(h.home, "kubeconfig")
}

// run runs a command and returns its standard output.
func (h helm) run(arguments ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(h.ctx, h.program, arguments...)
	command.Env = []string{"HOME=" + h.home, "KUBECONFIG=" + h.kubeconfig()}
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("helm %s: %w\n%s", strings.Join(arguments, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// mustRun runs a command that has to succeed.
func (h helm) mustRun(t *testing.T, arguments ...string) {
	t.Helper()
	if _, err := h.run(arguments...); err != nil {
		t.Fatal(err)
	}
}
