// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backend keeps the state in a bucket.
const backend = "examples/remote-state/backend.tf"

// The example of a backend fits beside the rest.
func TestBackendIsValidWithTheRest(t *testing.T) {
	t.Parallel()
	tree := newTree(t)
	copyBackend(t, tree)
	newTerraform(t, tree).mustRun(t, "validate", "-no-color")
}

// What one machine applies, another one knows, with nothing but the bucket
// between them.
func TestStateIsInTheBucket(t *testing.T) {
	t.Parallel()
	stored, address := newBucket(t)
	one := newMachine(t, address)
	one.mustRun(t, "apply", "-no-color", "-input=false", "-auto-approve", "-var=made=by one")
	if names := stored.names(); len(names) != 1 || names[0] != "shardyard/default.tfstate" {
		t.Errorf("the bucket holds %v, want the state alone", names)
	}
	if kept, _ := filepath.Glob(filepath.Join(one.folder, "*.tfstate*")); len(kept) != 0 {
		t.Errorf("the folder holds %v besides", kept)
	}

	other := newMachine(t, address)
	if made := strings.TrimSpace(string(other.mustRun(t, "output", "-raw", "made"))); made != "by one" {
		t.Errorf("the other machine knows %q", made)
	}
}

// Two do not apply at once.
func TestStateIsLockedByTheBucket(t *testing.T) {
	t.Parallel()
	stored, address := newBucket(t)
	tf := newMachine(t, address)
	tf.mustRun(t, "apply", "-no-color", "-input=false", "-auto-approve", "-var=made=by one")
	stored.put("shardyard/default.tflock", `{"ID": "1", "Operation": "OperationTypeApply", "Who": "somebody"}`)
	_, err := tf.run("apply", "-no-color", "-input=false", "-auto-approve", "-var=made=by two")
	if err == nil || !strings.Contains(err.Error(), "Error acquiring the state lock") || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("applying while somebody else does ends with: %v", err)
	}
	if made := strings.TrimSpace(string(tf.mustRun(t, "output", "-raw", "made"))); made != "by one" {
		t.Errorf("the state was overwritten: it is made %q", made)
	}
}

// newBucket serves an empty bucket.
func newBucket(t *testing.T) (stored *bucket, address string) {
	t.Helper()
	stored = &bucket{name: "test-state", objects: map[string][]byte{}}
	server := httptest.NewServer(stored)
	t.Cleanup(server.Close)
	return stored, server.URL
}

// newMachine is initialised with the backend, and with nothing else that is made, as
// what is made takes Google Cloud.
func newMachine(t *testing.T, address string) terraform {
	t.Helper()
	folder := t.TempDir()
	copyBackend(t, folder)
	const made = "variable \"made\" {\n  type = string\n}\n\noutput \"made\" {\n  value = var.made\n}\n"
	if err := os.WriteFile(filepath.Join(folder, "main.tf"), []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	tf := newTerraform(t, folder)
	tf.environment = []string{
		"GOOGLE_OAUTH_ACCESS_TOKEN=of-the-test",
		// Terraform and OpenTofu ask for the address by either name.
		"GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT=" + address + "/storage/v1/",
		"GOOGLE_STORAGE_CUSTOM_ENDPOINT=" + address + "/storage/v1/",
	}
	tf.mustRun(t, "init", "-no-color", "-input=false", "-backend-config=bucket=test-state")
	return tf
}

// copyBackend copies the example to where the guide copies it.
func copyBackend(t *testing.T, folder string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(source, backend))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "backend.tf"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
