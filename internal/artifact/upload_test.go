// SPDX-License-Identifier: Apache-2.0

package artifact_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/test/buckets"
)

// uploaded puts a result into a bucket.
func uploaded(t *testing.T, server *buckets.Server, folder string) string {
	t.Helper()
	at, err := artifact.Upload(t.Context(), folder, server.URL("nightly"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// A result is read in a bucket as it is in a folder.
func TestResultsInBuckets(t *testing.T) {
	server, folder := buckets.Serve(t), filepath.Join(t.TempDir(), "new")
	want := profiled(t, folder)
	// Whatever else is in the folder, such as networks with their keys, stays there.
	if err := os.WriteFile(filepath.Join(folder, "validator.key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	last := ""
	server.Before(func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method == http.MethodPut {
			last = request.URL.Path
		}
		return false
	})
	at := uploaded(t, server, folder)
	began := want.StartedAt.Format("20060102T150405.000000000Z")
	place := "nightly/" + want.Benchmark.Name + "/" + began
	if last != "/kept/"+place+"/"+artifact.ResultFile {
		t.Errorf("the last object is %s", last)
	}
	if !strings.HasPrefix(at, "s3://kept/"+place+"?") || artifact.Name(at) != began {
		t.Errorf("the result is at %s, and is called %s", at, artifact.Name(at))
	}
	for _, key := range server.Keys(t) {
		file, ok := strings.CutPrefix(key, place+"/")
		content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file)))
		if !ok || err != nil || string(server.Get(t, key)) != string(content) || file == "validator.key" {
			t.Errorf("the bucket has %s (%v)", key, err)
		}
	}
	for _, of := range []string{at, server.URL(place + "/" + artifact.ResultFile)} {
		if got, err := artifact.Read(t.Context(), of); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("of %s, reads %+v (%v), want %+v", of, got, err, want)
		}
	}
}

// Results in a bucket are found, and shown with their profiles.
func TestSitesOfBuckets(t *testing.T) {
	server, folder, late := buckets.Serve(t), filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "late")
	early := profiled(t, folder)
	write(t, late, made("net", 1<<31))
	uploaded(t, server, late)
	uploaded(t, server, folder)
	place := early.Benchmark.Name + "/" + early.StartedAt.Format("20060102T150405.000000000Z")
	found, err := artifact.Find(t.Context(), server.URL("nightly"))
	if err != nil || len(found) != 2 || found[0].Folder != "s3://kept/nightly/"+place || found[1].Result.StartedAt.Unix() != 1<<31 {
		t.Errorf("finds %+v (%v)", found, err)
	}
	site := filepath.Join(t.TempDir(), "site")
	if count, err := artifact.WriteSite(t.Context(), server.URL("nightly"), site); err != nil || count != 2 {
		t.Errorf("%d results are shown, want 2: %v", count, err)
	}
	shown := 0
	for _, key := range server.Keys(t) {
		file, ok := strings.CutPrefix(key, "nightly/"+place+"/profiles/")
		if !ok {
			continue
		}
		shown++
		if _, err := os.Stat(filepath.Join(site, filepath.FromSlash(place), "profiles", file)); err != nil {
			t.Error(err)
		}
	}
	if shown == 0 {
		t.Errorf("the bucket has %v", server.Keys(t))
	}
}

// Whoever uploads a result again finds it there, and one that began is completed.
func TestResultsThatAreThere(t *testing.T) {
	server, folder := buckets.Serve(t), filepath.Join(t.TempDir(), "new")
	write(t, folder, made("net", 1))
	at := uploaded(t, server, folder)
	keys := server.Keys(t)
	if len(keys) != len(artifact.Files) {
		t.Fatalf("the bucket has %v", keys)
	}
	// One of before has no table of failures.
	if err := os.Remove(filepath.Join(folder, artifact.FailuresFile)); err != nil {
		t.Fatal(err)
	}
	server.Remove(t, "nightly/net/19700101T000001.000000000Z/"+artifact.ResultFile)
	if again := uploaded(t, server, folder); again != at || !slices.Equal(server.Keys(t), keys) {
		t.Errorf("the second time it is at %s, and the bucket has %v", again, server.Keys(t))
	}
	other := "nightly/net/19700101T000001.000000000Z/" + artifact.BlocksFile
	server.Put(t, other, []byte("of another"))
	if _, err := artifact.Upload(t.Context(), folder, server.URL("nightly")); err == nil ||
		!strings.Contains(err.Error(), "write s3://kept/"+other+": it is there already, and is another") {
		t.Errorf("the error is %v", err)
	}
	if string(server.Get(t, other)) != "of another" || !slices.Equal(server.Keys(t), keys) {
		t.Errorf("the bucket has %v", server.Keys(t))
	}
}

// A result that could not be put there whole is not there, and the error says why.
func TestFailedUploads(t *testing.T) {
	server, folder := buckets.Serve(t), filepath.Join(t.TempDir(), "new")
	write(t, folder, made("net", 1))
	for name, test := range map[string]struct {
		url    string
		before func(out http.ResponseWriter, request *http.Request) bool
		want   string
	}{
		"no bucket": {url: server.URLOf("absent", ""), want: "there is no bucket absent"},
		"no URL":    {url: "results/nightly", want: `has the scheme "": want s3://BUCKET/PREFIX`},
		"others' credentials": {
			url: server.URL("nightly"),
			before: func(out http.ResponseWriter, request *http.Request) bool {
				buckets.Refuse(out, request, http.StatusForbidden, "InvalidAccessKeyId", "there is no such key")
				return true
			},
			want: artifact.BlocksFile + ": the bucket refuses these credentials: InvalidAccessKeyId: there is no such key",
		},
		"credentials": {url: "s3://key:secret@kept", want: "holds credentials"},
		"the last object": {
			url: server.URL("nightly"),
			before: func(out http.ResponseWriter, request *http.Request) bool {
				last := request.Method == http.MethodPut && strings.HasSuffix(request.URL.Path, artifact.ResultFile)
				if last {
					buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "the quota is used up")
				}
				return last
			},
			want: artifact.ResultFile + ": the bucket refuses these credentials: AccessDenied: the quota is used up",
		},
	} {
		server.Before(test.before)
		at, err := artifact.Upload(t.Context(), folder, test.url)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: it is at %s, and the error is %v, want %q", name, at, err, test.want)
		}
		if keys := server.Keys(t); len(keys) > 0 || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the bucket has %v, and the error is %v", name, keys, err)
		}
	}
}

func TestUnreadableBuckets(t *testing.T) {
	server := buckets.Serve(t)
	if _, err := artifact.Read(t.Context(), server.URL("nightly")); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "s3://kept/nightly/result.json") {
		t.Errorf("the error is %v", err)
	}
	if _, err := artifact.Find(t.Context(), server.URL("nightly")); err == nil ||
		!strings.Contains(err.Error(), "there is no result.json below s3://kept/nightly") {
		t.Errorf("the error is %v", err)
	}
	server.Put(t, "nightly/result.json", []byte("{}"))
	if _, err := artifact.Read(t.Context(), server.URL("nightly")); err == nil ||
		!strings.Contains(err.Error(), "s3://kept/nightly/result.json: ") {
		t.Errorf("the error is %v", err)
	}
	if err := artifact.Reach(t.Context(), server.URL("anywhere")); err != nil {
		t.Error(err)
	}
	if err := artifact.Reach(t.Context(), server.URLOf("absent", "")); err == nil ||
		!strings.Contains(err.Error(), "there is no bucket absent") {
		t.Errorf("the error is %v", err)
	}
}
