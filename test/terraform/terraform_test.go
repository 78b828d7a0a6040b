// SPDX-License-Identifier: Apache-2.0

package terraform_test

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

// source is the Terraform of this repository.
const source = "../../terraform"

// terraform runs the program in a folder of a copy of the tree.
type terraform struct {
	ctx     context.Context
	program string
	folder  string
	home    string
	// What the program is told besides where it works.
	environment []string
}

// newTree copies the tree, so that nothing is written into it and mistakes can
// be.
func newTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	return tree
}

// newTerraform finds the program and points it at a folder, and at no registry.
func newTerraform(t *testing.T, folder string) terraform {
	t.Helper()
	program, provider := os.Getenv("TERRAFORM"), os.Getenv("TERRAFORM_PROVIDER")
	if program == "" || provider == "" {
		t.Fatal("TERRAFORM or TERRAFORM_PROVIDER is not set: make terraform-test sets them")
	}
	tf := terraform{ctx: t.Context(), program: program, folder: folder, home: t.TempDir()}
	config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"hashicorp/google\" = %q\n  }\n}\n",
		filepath.Dir(provider))
	if err := os.WriteFile(tf.config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// What is left of init when the provider is not to be installed.
	tf.mustRun(t, "get")
	return tf
}

func (tf terraform) config() string {
	return filepath.Join(tf.home, "terraformrc")
}

// run runs a command and returns its standard output. An error holds what the
// command says of it.
func (tf terraform) run(arguments ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(tf.ctx, tf.program, arguments...)
	command.Dir = tf.folder
	command.Env = append([]string{
		"HOME=" + tf.home,
		"PATH=" + os.Getenv("PATH"),
		"TF_CLI_CONFIG_FILE=" + tf.config(),
		"TF_DATA_DIR=" + filepath.Join(tf.home, "data"),
		"TF_IN_AUTOMATION=1",
		"CHECKPOINT_DISABLE=1",
	}, tf.environment...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		words := stderr.Bytes()
		if len(words) == 0 {
			words = stdout.Bytes()
		}
		return nil, fmt.Errorf("terraform %s: %w\n%s", strings.Join(arguments, " "), err, words)
	}
	return stdout.Bytes(), nil
}

func (tf terraform) mustRun(t *testing.T, arguments ...string) []byte {
	t.Helper()
	output, err := tf.run(arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}
