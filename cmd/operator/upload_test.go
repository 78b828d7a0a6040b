// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/test/buckets"
)

// uploadArtifact runs the command of the uploader.
func uploadArtifact(t *testing.T, arguments ...string) error {
	t.Helper()
	command := newCommand()
	command.SetArgs(append([]string{"upload-artifact"}, arguments...))
	return command.ExecuteContext(t.Context())
}

// What the judge made is in the bucket, and the summary says where. Where it went is not
// in it.
func TestUploadArtifact(t *testing.T) {
	server := buckets.Serve(t)
	benchmark, path := benchmarkFile(t)
	folder := t.TempDir()
	said, into := filepath.Join(folder, "said"), filepath.Join(folder, "artifact")
	for _, run := range bench.Runs(&benchmark.Spec) {
		if err := recording.Write(folder, benchmark.UID, recording.NodeImage{Name: "shardnode:test"}, recorded(run, 0.5)); err != nil {
			t.Fatal(err)
		}
	}
	if err := judgeRuns(t, "--benchmark", path, "--records", folder, "--summary", said, "--artifact", into); err != nil {
		t.Fatal(err)
	}
	var first string
	for range 2 {
		if err := uploadArtifact(t, "--artifact", into, "--url", server.URL("nightly"), "--summary", said); err != nil {
			t.Fatal(err)
		}
		message, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(message)
		}
		if string(message) != first {
			t.Errorf("the second time, it says %s, and had said %s", message, first)
		}
	}
	at, err := summary.Decode[summary.Upload](first)
	if err != nil {
		t.Fatal(err)
	}
	made, err := artifact.Read(t.Context(), at.URL)
	if err != nil || made.Benchmark.Name != benchmark.Name || len(server.Keys(t)) != len(artifact.Files) {
		t.Errorf("the bucket has %v, and the result %+v (%v)", server.Keys(t), made, err)
	}
}

// Who cannot upload says why, in words that fit into a message.
func TestUploadNothing(t *testing.T) {
	server := buckets.Serve(t)
	folder := t.TempDir()
	said := filepath.Join(folder, "said")
	err := uploadArtifact(t, "--artifact", folder, "--url", server.URL("nightly"), "--summary", said)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(folder, artifact.ResultFile)) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(said); !os.IsNotExist(err) {
		t.Errorf("it says something: %v", err)
	}
	if keys := server.Keys(t); !slices.Equal(keys, []string{}) {
		t.Errorf("the bucket has %v", keys)
	}
}
