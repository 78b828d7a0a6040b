// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = "../.."

// program is a program to run, with nothing in its environment that this
// machine has set for itself.
type program struct {
	path        string
	environment []string
}

// newProgram is the program that an environment variable names.
func newProgram(t *testing.T, variable string, environment ...string) program {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set: make e2e sets it", variable)
	}
	return program{path, environment}
}

// run runs a command and returns its standard output.
func (p program) run(ctx context.Context, stdin string, arguments ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, p.path, arguments...)
	command.Env = p.environment
	command.Stdin = strings.NewReader(stdin)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s", p.path, strings.Join(arguments, " "), err, &stderr)
	}
	return stdout.String(), nil
}

// mustRun runs a command that has to succeed.
func (p program) mustRun(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := p.run(t.Context(), "", arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}
