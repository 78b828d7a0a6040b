// SPDX-License-Identifier: Apache-2.0

package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/test/buckets"
)

// many are the files of a network, more than are copied at once.
func many(t *testing.T) (from string, paths []string) {
	t.Helper()
	contents := map[string]string{}
	for i := range 40 {
		contents[fmt.Sprintf("data/%02d", i)] = strings.Repeat("x", i)
	}
	return place(t, contents), []string{"data"}
}

// A bucket that ceases to take objects in the middle is left as it was; the manifest is
// the last object that it is given.
func TestBucketsThatCeaseToTakeObjects(t *testing.T) {
	on, server := inBucket(t)
	from, paths := many(t)
	var puts, now atomic.Int64
	var mutex sync.Mutex
	most, last := int64(0), ""
	server.Before(func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method != http.MethodPut {
			return false
		}
		puts.Add(1)
		mutex.Lock()
		last = request.URL.Path
		most = max(most, now.Add(1))
		mutex.Unlock()
		<-time.After(5 * time.Millisecond)
		now.Add(-1)
		return false
	})
	if err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, on.at("whole")), paths); err != nil {
		t.Fatal(err)
	}
	if puts.Load() != 41 || last != "/kept/whole/backup.json" {
		t.Errorf("%d objects were written, the last one %s", puts.Load(), last)
	}
	if most < 2 || most > 4 {
		t.Errorf("up to %d objects were written at once", most)
	}
	whole := server.Keys(t)

	for _, ends := range []int64{0, 1, 22, 39, 40} {
		puts.Store(0)
		server.Before(func(out http.ResponseWriter, request *http.Request) bool {
			if request.Method != http.MethodPut || puts.Add(1) <= ends {
				return false
			}
			buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "the quota is used up")
			return true
		})
		err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, on.at("half")), paths)
		if err == nil || !strings.Contains(err.Error(), "write s3://kept/half/") || !strings.Contains(err.Error(), "the quota is used up") {
			t.Fatalf("after %d objects, the error is %v", ends, err)
		}
		if keys := server.Keys(t); !slices.Equal(keys, whole) {
			t.Fatalf("after %d objects, the bucket has %v", ends, keys)
		}
	}
}

// A backup that somebody ends in the middle leaves nothing.
func TestBackupsThatAreEnded(t *testing.T) {
	on, server := inBucket(t)
	from, paths := many(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var puts atomic.Int64
	// What the server has of the writes that are given up is done before anybody looks.
	var writing sync.RWMutex
	server.Before(func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method != http.MethodPut {
			writing.Lock()
			writing.Unlock() //nolint:staticcheck // It was waited for.
			return false
		}
		writing.RLock()
		if puts.Add(1) != 20 {
			return false
		}
		// Only who has read all of a request hears that nobody waits for the answer.
		content, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		request.Body = io.NopCloser(bytes.NewReader(content))
		cancel()
		<-request.Context().Done()
		return false
	})
	server.After(func(request *http.Request) bool {
		if request.Method == http.MethodPut {
			writing.RUnlock()
		}
		return false
	})
	err := backup.Write(ctx, &backup.Manifest{}, from, open(t, on.at("half")), paths)
	if !errors.Is(err, context.Canceled) || puts.Load() < 20 || puts.Load() > 24 {
		t.Errorf("after %d objects, the error is %v", puts.Load(), err)
	}
	if keys := server.Keys(t); len(keys) > 0 {
		t.Errorf("the bucket has %v", keys)
	}
}

// What cannot be removed is said.
func TestBucketsThatKeepWhatFailed(t *testing.T) {
	on, server := inBucket(t)
	from, paths := many(t)
	server.Before(func(out http.ResponseWriter, request *http.Request) bool {
		if request.Method == http.MethodPut && !strings.HasSuffix(request.URL.Path, backup.ManifestFile) || request.Method == http.MethodGet {
			return false
		}
		buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "not even you")
		return true
	})
	err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, on.at("half")), paths)
	for _, want := range []string{
		"write s3://kept/half/backup.json: ", "s3://kept/half may keep 40 objects of what is not complete: remove s3://kept/half/",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if err := verify(t, open(t, on.at("half"))); err == nil || !strings.Contains(err.Error(), "is no complete backup") {
		t.Errorf("what is left is %v", err)
	}
}

// Of two backups that find a place empty at one time, the second fails, and leaves the
// objects of the first.
func TestBackupsOfOnePlace(t *testing.T) {
	on, server := inBucket(t)
	from, paths := many(t)
	server.Before(func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method == http.MethodPut && len(server.Keys(t)) == 0 {
			server.Put(t, "both/data/07", []byte("theirs"))
		}
		return false
	})
	err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, on.at("both")), paths)
	if err == nil || !strings.Contains(err.Error(), "write s3://kept/both/data/07: it is there already") {
		t.Errorf("the error is %v", err)
	}
	if keys := server.Keys(t); !slices.Equal(keys, []string{"both/data/07"}) || string(server.Get(t, "both/data/07")) != "theirs" {
		t.Errorf("the bucket has %v", keys)
	}
}

// Of two backups that find a place empty at one time, the one that is not complete takes
// nothing of the other one with it, wherever they are kept.
func TestBackupsThatBeginTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, on shelf) {
		t.Helper()
		from := place(t, map[string]string{"nodes/a/data/blobs/9": "nine", "nodes/c/data/blobs/0": "zero", "genesis.json": "{}"})
		var first backup.Place
		to := backup.Claimed(open(t, on.at("both")), func() { first = keep(t, on, "both") })
		err := backup.Write(t.Context(), &backup.Manifest{}, from, to, []string{"nodes", "genesis.json"})
		if err == nil || !strings.Contains(err.Error(), "genesis.json") {
			t.Errorf("the error is %v", err)
		}
		if err := verify(t, first); err != nil {
			t.Errorf("the other backup is %v", err)
		}
		if left := on.files(t); len(left) != 4 {
			t.Errorf("there are %v", left)
		}
	})
}

// A backup that fails leaves no folders either, but for one that was there.
func TestFoldersOfBackupsThatFail(t *testing.T) {
	from, paths := many(t)
	for name, test := range map[string]struct {
		there bool
		want  int
	}{"a folder of its own": {false, 0}, "a folder that was there": {true, 1}} {
		root := t.TempDir()
		to := filepath.Join(root, "kept")
		if test.there {
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := backup.Write(t.Context(), &backup.Manifest{}, from, open(t, to+"/"), append(paths, "data/07")); err == nil {
			t.Errorf("%s: there is no error", name)
		}
		left, err := filepath.Glob(filepath.Join(root, "*"))
		below, failed := filepath.Glob(filepath.Join(root, "*", "*"))
		if err := errors.Join(err, failed); err != nil || len(left) != test.want || len(below) > 0 {
			t.Errorf("%s: %v and %v are left (%v)", name, left, below, err)
		}
	}
}

func TestBucketsThatAreNotThere(t *testing.T) {
	_, server := inBucket(t)
	from, paths := many(t)
	absent := open(t, server.URLOf("absent", "kept"))
	want := "s3://absent/kept: there is no bucket absent"
	if err := backup.Write(t.Context(), &backup.Manifest{}, from, absent, paths); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a backup to it ends with %v", err)
	}
	if _, err := backup.Read(t.Context(), absent); err == nil || !strings.Contains(err.Error(), "there is no bucket absent") {
		t.Errorf("reading it ends with %v", err)
	}
	if _, err := backup.Open(t.Context(), "ftp://kept"); err == nil || !strings.Contains(err.Error(), `has the scheme "ftp"`) {
		t.Errorf("the error is %v", err)
	}
}

// A connection that breaks in the middle of an object is no damage, and no end of it: the
// rest is asked for, three times altogether.
func TestBackupsThatBreakOff(t *testing.T) {
	on, server := inBucket(t)
	from := keep(t, on, "kept")
	const broken = "read s3://kept/kept/nodes/a/data/blobs/0: unexpected EOF: it broke off after 3 of 4 bytes"
	for name, test := range map[string]struct {
		// breaks are how often it breaks, each time one byte later.
		breaks int64
		want   string
	}{"twice": {2, ""}, "each time": {3, broken}} {
		var asked atomic.Int64
		server.Before(func(out http.ResponseWriter, request *http.Request) bool {
			if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/blobs/0") {
				return false
			}
			sent := 1
			if asked.Add(1) > test.breaks {
				sent = 4
			}
			buckets.BreakOff(out, request, []byte("zero"), sent)
			return true
		})
		err := verify(t, from)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "damaged") || asked.Load() != 3 {
			t.Errorf("%s: it was asked for %d times: %v", name, asked.Load(), err)
		}
	}
}
