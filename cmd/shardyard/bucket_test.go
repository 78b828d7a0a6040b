// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/test/buckets"
)

// Every report reads from a bucket.
func TestReportsOfBuckets(t *testing.T) {
	server := buckets.Serve(t)
	var places []string
	for i, folder := range []string{stored(t, "monday", 1, 0.5), stored(t, "tuesday", 2, 0.6)} {
		place, err := artifact.Upload(t.Context(), folder, server.URL("nightly"))
		if err != nil {
			t.Fatal(i, err)
		}
		places = append(places, place)
	}
	if got := shardyard(t, "report", "show", places[0]); !strings.Contains(got, "Succeeded: fine\n") {
		t.Errorf("prints\n%s", got)
	}
	got := shardyard(t, "report", "compare", places[1], places[0])
	for _, want := range []string{"Better: CPUMicrosecondsPerTransfer", "19700101T000001.000000000Z"} {
		if !strings.Contains(got, want) || strings.Contains(got, "region=") {
			t.Errorf("prints\n%s\nwant %q", got, want)
		}
	}
	got = shardyard(t, "report", "history", server.URL("nightly"))
	if want := "s3://kept/nightly/net/19700101T000002.000000000Z"; !strings.Contains(got, want) {
		t.Errorf("prints\n%s\nwant %q", got, want)
	}
	site := filepath.Join(t.TempDir(), "site")
	if got := shardyard(t, "report", "site", server.URL("nightly"), site); !strings.Contains(got, ": 2\n") {
		t.Errorf("prints\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(site, artifact.SiteFile)); err != nil {
		t.Error(err)
	}
}

// What could not be put into its bucket is not run, if that is known before.
func TestBenchOfBuckets(t *testing.T) {
	server := buckets.Serve(t)
	content, err := os.ReadFile(near4)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		server.URLOf("absent", "nightly"): "error: spec.upload.url: look at s3://absent/nightly: there is no bucket absent",
		"file:///nightly":                 "spec.upload.url: Invalid value: \"file:///nightly\": must be s3://BUCKET/PREFIX",
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, "benchmark.yaml")
		if err := os.WriteFile(path, append(content, "  upload: {url: \""+url+"\"}\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		got := shardyardFails(t, "bench", "run", "-f", path, "--shardnode", program(t), "--artifact", filepath.Join(folder, "artifact"))
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("prints %q, want %q", got, want)
		}
		if _, err := os.Stat(filepath.Join(folder, "artifact")); !os.IsNotExist(err) {
			t.Errorf("a result is begun: %v", err)
		}
	}
}

// A place that is wrong is said before anything is looked for there.
func TestBackupsToNowhere(t *testing.T) {
	buckets.Serve(t)
	stateDir := t.TempDir()
	for url, want := range map[string]string{
		"azblob://kept/net":        `error: azblob://kept/net has the scheme "azblob": want s3://BUCKET/PREFIX, gs:`,
		"s3://key:secret@kept/net": "error: s3://key:xxxxx@kept/net holds credentials: they belong into the environment, not into a URL",
		"file://net":               "error: file://net is no folder: want file:///PATH",
	} {
		got := shardyardFails(t, "restore", url, "--state-dir", stateDir, "--shardnode", program(t))
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("prints %q, want %q", got, want)
		}
	}
}
