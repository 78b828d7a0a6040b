// SPDX-License-Identifier: Apache-2.0

package support_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/support"
)

// unpack reads the files of a bundle.
func unpack(t *testing.T, bundle io.Reader) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}

// A secret that is known is in no file, wherever it was; what could not be had is
// told.
func TestBundle(t *testing.T) {
	var written bytes.Buffer
	bundle := support.NewBundle(&written, "small", time.Unix(1, 0))
	bundle.Hide("  s3cret\n")
	bundle.Hide("")
	for name, content := range map[string]string{"a/one.log": "it is s3cret, s3cret\n", "two.txt": "nothing"} {
		if err := bundle.Add(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	bundle.Miss("three.txt", errors.New("no\nanswer"))
	if err := bundle.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"small/a/one.log": "it is (hidden), (hidden)\n", "small/two.txt": "nothing", "small/missing.txt": "three.txt: no answer\n",
	}
	if got := unpack(t, &written); !maps.Equal(got, want) {
		t.Errorf("the bundle holds %q, want %q", got, want)
	}
}
