// SPDX-License-Identifier: Apache-2.0

package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shardyard/shardyard/internal/bucket"
	"github.com/shardyard/shardyard/test/buckets"
)

// opened is a place in a bucket.
func opened(t *testing.T, place string) *bucket.Bucket {
	t.Helper()
	at, err := bucket.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	made, err := bucket.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made
}

func write(ctx context.Context, to *bucket.Bucket, name string, content []byte) error {
	return to.Write(ctx, name, "text/plain", int64(len(content)), func(out io.Writer) error {
		_, err := io.Copy(out, bytes.NewReader(content))
		return err
	})
}

// Objects come back as they were, empty ones and those of several parts as well.
func TestObjects(t *testing.T) {
	server := buckets.Serve(t)
	place := opened(t, server.URL("a/b"))
	if empty, err := place.Empty(t.Context()); err != nil || !empty {
		t.Fatalf("the place is empty: %t (%v)", empty, err)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 20<<16)
	for name, content := range map[string][]byte{"empty": nil, "small": []byte("small"), "folder/large": large} {
		if err := write(t.Context(), place, name, content); err != nil {
			t.Fatal(err)
		}
		in, err := place.Read(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s has %d bytes (%v), want %d", name, len(got), err, len(content))
		}
	}
	if keys := server.Keys(t); !slices.Equal(keys, []string{"a/b/empty", "a/b/folder/large", "a/b/small"}) {
		t.Errorf("the objects are %v", keys)
	}
	if empty, err := place.Empty(t.Context()); err != nil || empty {
		t.Errorf("the place is empty: %t (%v)", empty, err)
	}
	if names, err := place.List(t.Context()); err != nil || !slices.Equal(names, []string{"empty", "folder/large", "small"}) {
		t.Errorf("the names are %v (%v)", names, err)
	}
	if err := errors.Join(place.Remove(t.Context(), "small"), place.Remove(t.Context(), "small")); err != nil {
		t.Error(err)
	}
	if _, err := place.Read(t.Context(), "small"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

// An object whose reading breaks off is read on, but not with the rest of another.
func TestObjectsThatBreakOff(t *testing.T) {
	server := buckets.Serve(t)
	place := opened(t, server.URL("a"))
	for name, test := range map[string]struct {
		// rest is the object as it is when the rest is asked for.
		rest, got, want string
	}{
		"the same":       {"0123456789", "0123456789", ""},
		"another":        {"something else", "01234", "read s3://kept/a/b: unexpected EOF: it broke off after 5 of 10 bytes"},
		"nothing by now": {"", "01234", "read s3://kept/a/b: unexpected EOF: it broke off after 5 of 10 bytes"},
	} {
		server.Before(func(out http.ResponseWriter, request *http.Request) bool {
			switch {
			case request.Header.Get("Range") == "":
				buckets.BreakOff(out, request, []byte("0123456789"), 5)
			case test.rest == "":
				buckets.Refuse(out, request, http.StatusNotFound, "NoSuchKey", "it is gone")
			default:
				buckets.BreakOff(out, request, []byte(test.rest), 100)
			}
			return true
		})
		in, err := place.Read(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if string(got) != test.got || (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: it is %q (%v), want %q (%s)", name, got, err, test.got, test.want)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What does not work is said in a sentence that names the object, and leaves none.
func TestRefusedObjects(t *testing.T) {
	server := buckets.Serve(t)
	server.Put(t, "a/there", []byte("theirs"))
	fails := func(context.Context, *bucket.Bucket) error { return errors.New("the disk is gone") }
	cases := map[string]struct {
		url  string
		do   func(context.Context, *bucket.Bucket) error
		want []string
	}{
		"no bucket": {
			url:  server.URLOf("absent", "a"),
			do:   func(ctx context.Context, b *bucket.Bucket) error { _, err := b.Empty(ctx); return err },
			want: []string{"look at s3://absent/a: there is no bucket absent"},
		},
		"no bucket to write to": {
			url:  server.URLOf("absent", "a"),
			do:   func(ctx context.Context, b *bucket.Bucket) error { return write(ctx, b, "b", []byte("b")) },
			want: []string{"write s3://absent/a/b: there is no bucket absent"},
		},
		"no object": {
			do:   func(ctx context.Context, b *bucket.Bucket) error { _, err := b.Read(ctx, "b"); return err },
			want: []string{"read s3://kept/a/b: file does not exist"},
		},
		"an object that is there": {
			do:   func(ctx context.Context, b *bucket.Bucket) error { return write(ctx, b, "there", []byte("ours")) },
			want: []string{"write s3://kept/a/there: it is there already"},
		},
		"a source that fails": {
			do: func(ctx context.Context, b *bucket.Bucket) error {
				return b.Write(ctx, "b", "text/plain", 10, func(out io.Writer) error {
					_, err := out.Write([]byte("half"))
					return errors.Join(err, fails(ctx, b))
				})
			},
			want: []string{"write s3://kept/a/b: ", "the disk is gone"},
		},
		"somebody ends it": {
			do: func(ctx context.Context, b *bucket.Bucket) error {
				ctx, cancel := context.WithCancel(ctx)
				return b.Write(ctx, "b", "text/plain", 10, func(out io.Writer) error {
					_, err := out.Write([]byte("half"))
					cancel()
					return err
				})
			},
			want: []string{"write s3://kept/a/b: ", "context canceled"},
		},
	}
	for name, test := range cases {
		if test.url == "" {
			test.url = server.URL("a")
		}
		err := test.do(t.Context(), opened(t, test.url))
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want %q", name, err, want)
			}
		}
	}
	if keys := server.Keys(t); !slices.Equal(keys, []string{"a/there"}) || string(server.Get(t, "a/there")) != "theirs" {
		t.Errorf("the objects are %v", keys)
	}
}

func TestRefusedCredentials(t *testing.T) {
	server := buckets.Serve(t)
	buckets.Credentials(t, "somebody-else")
	err := write(t.Context(), opened(t, server.URL("a")), "b", []byte("b"))
	want := "write s3://kept/a/b: the bucket refuses these credentials: InvalidAccessKeyId: there is no such key"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}

func TestNoCredentials(t *testing.T) {
	server := buckets.Serve(t)
	buckets.Credentials(t, "")
	batch := opened(t, server.URL("a")).NewBatch()
	err := batch.Fail(t.Context(), batch.Write(t.Context(), "b", "text/plain", 0, func(io.Writer) error { return nil }))
	if !errors.Is(err, bucket.ErrNoCredentials) || !strings.HasPrefix(err.Error(), "write s3://kept/a/b: there are no credentials: ") ||
		strings.Contains(err.Error(), "may keep") {
		t.Errorf("the error is %v", err)
	}
}

// A server that is not there is said without what the libraries say of themselves.
func TestServersThatAreNotThere(t *testing.T) {
	buckets.Credentials(t, buckets.KeyID)
	_, err := opened(t, "s3://kept/a?endpoint=http://127.0.0.1:1&region=eu-central-1&use_path_style=true").Read(t.Context(), "b")
	if err == nil || !strings.HasPrefix(err.Error(), "read s3://kept/a/b: operation error S3: GetObject, ") ||
		!strings.Contains(err.Error(), "exceeded maximum number of attempts, 3") {
		t.Errorf("the error is %v", err)
	}
}

// A server that fails in the middle of an object of several parts has no such object.
func TestInterruptedWrites(t *testing.T) {
	server := buckets.Serve(t)
	server.Before(func(out http.ResponseWriter, request *http.Request) bool {
		if request.URL.Query().Get("partNumber") != "2" {
			return false
		}
		buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "no more than one")
		return true
	})
	err := write(t.Context(), opened(t, server.URL("a")), "b", bytes.Repeat([]byte("0123456789abcdef"), 20<<16))
	if err == nil || !strings.Contains(err.Error(), "write s3://kept/a/b: the bucket refuses these credentials: AccessDenied") {
		t.Errorf("the error is %v", err)
	}
	if keys := server.Keys(t); len(keys) > 0 {
		t.Errorf("the objects are %v", keys)
	}
}

// A connection that breaks while an object is read is no end of the object.
func TestInterruptedReads(t *testing.T) {
	server := buckets.Serve(t)
	server.Before(func(out http.ResponseWriter, request *http.Request) bool {
		if request.Method != http.MethodGet {
			return false
		}
		out.Header().Set("Content-Length", "1000")
		_, _ = out.Write([]byte("half"))
		return true
	})
	in, err := opened(t, server.URL("a")).Read(t.Context(), "b")
	if err == nil {
		defer in.Close()
		_, err = io.ReadAll(in)
	}
	if err == nil || !strings.Contains(err.Error(), "read s3://kept/a/b: ") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %v", err)
	}
}

// Every parameter that is taken is one that the library takes.
func TestParameters(t *testing.T) {
	buckets.Credentials(t, buckets.KeyID)
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[profile writer]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", config)
	parameters := []string{
		"endpoint=http://127.0.0.1:1", "kmskeyid=key", "profile=writer", "region=eu-central-1",
		"request_checksum_calculation=when_required", "ssetype=aws:kms", "use_path_style=true",
	}
	names := make([]string, 0, len(parameters))
	for _, parameter := range parameters {
		opened(t, "s3://kept/a?"+parameter)
		name, _, _ := strings.Cut(parameter, "=")
		names = append(names, name)
	}
	_, err := bucket.Parse("s3://kept/a?role=writer")
	if all := "want " + strings.Join(names, ", "); err == nil || !strings.HasSuffix(err.Error(), all) {
		t.Errorf("the error is %v, want one that ends with %q", err, all)
	}
}

// What a name holds is not what a server said.
func TestNamesThatLookLikeAnswers(t *testing.T) {
	server := buckets.Serve(t)
	server.Before(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
	place := opened(t, server.URL("20260301T000000Z"))
	if err := place.Remove(t.Context(), "b"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	refused := func(status int, code string) func(http.ResponseWriter, *http.Request) bool {
		return func(out http.ResponseWriter, request *http.Request) bool {
			out.Header().Set("X-Amz-Request-Id", "3010301")
			buckets.Refuse(out, request, status, code, "no")
			return true
		}
	}
	server.Before(refused(http.StatusPreconditionFailed, "PreconditionFailed"))
	if err := write(t.Context(), place, "b", []byte("b")); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("the error is %v", err)
	}
	server.Before(refused(http.StatusForbidden, "AccessDenied"))
	if _, err := place.Read(t.Context(), "b"); !errors.Is(err, bucket.ErrRefused) {
		t.Errorf("the error is %v", err)
	}
}

// Of an object of several parts whose writing somebody ends, the server keeps none.
func TestEndedWrites(t *testing.T) {
	server := buckets.Serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	var mutex sync.Mutex
	var begun, aborted bool
	server.Before(func(_ http.ResponseWriter, request *http.Request) bool {
		mutex.Lock()
		defer mutex.Unlock()
		query := request.URL.Query()
		switch {
		case query.Get("partNumber") == "2":
			begun = true
			cancel()
		case request.Method == http.MethodDelete && query.Get("uploadId") != "":
			aborted = true
		}
		return false
	})
	err := write(ctx, opened(t, server.URL("a")), "b", bytes.Repeat([]byte("0123456789abcdef"), 20<<16))
	mutex.Lock()
	defer mutex.Unlock()
	if err == nil || !begun || !aborted {
		t.Errorf("the error is %v; a second part was sent: %t, and its upload ended: %t", err, begun, aborted)
	}
}

// An object is the batch's own if only the answer to its writing was lost, and somebody
// else's if it was there before.
func TestLostAnswers(t *testing.T) {
	server := buckets.Serve(t)
	server.Put(t, "a/there", []byte("theirs"))
	batch := opened(t, server.URL("a")).NewBatch()
	fill := func(out io.Writer) error {
		_, err := io.WriteString(out, "ours")
		return err
	}
	var lost atomic.Bool
	server.After(func(request *http.Request) (answerLost bool) {
		return request.Method == http.MethodPut && !lost.Swap(true)
	})
	if err := batch.Write(t.Context(), "mine", "text/plain", 4, fill); err != nil || !lost.Load() {
		t.Errorf("an answer was lost: %t (%v)", lost.Load(), err)
	}
	if err := batch.Write(t.Context(), "there", "text/plain", 4, fill); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("the error is %v", err)
	}
	cause := errors.New("the end")
	if err := batch.Fail(t.Context(), cause); err.Error() != cause.Error() {
		t.Error(err)
	}
	if keys := server.Keys(t); !slices.Equal(keys, []string{"a/there"}) {
		t.Errorf("the objects are %v", keys)
	}
}

// Of an object that nobody knows the writer of, a batch that fails removes only its own,
// and says that it may be there if it cannot look.
func TestUnsureObjects(t *testing.T) {
	server := buckets.Serve(t)
	aborts := func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	refuses := func(out http.ResponseWriter, request *http.Request) bool {
		buckets.Refuse(out, request, http.StatusForbidden, "AccessDenied", "no")
		return true
	}
	type answer = func(http.ResponseWriter, *http.Request) bool
	cases := map[string]struct {
		theirs bool
		// put and look are what becomes of writing and of looking, and undo of looking
		// afterwards; nil where it is done.
		put, look, undo answer
		// lost says that the first answer to writing is lost.
		lost bool
		// words are what the error says, and keeps what is there in the end.
		words, keeps string
	}{
		"theirs, and no answer": {theirs: true, put: aborts, keeps: "theirs"},
		"none, and no answer":   {put: aborts},
		"theirs, and cannot be seen": {
			theirs: true, look: refuses, words: "and nobody knows who wrote it: look at s3://kept/a/b: ", keeps: "theirs",
		},
		"its own, and cannot be seen": {lost: true, look: refuses, words: "and nobody knows who wrote it: look at s3://kept/a/b: "},
		"its own, and is never seen":  {lost: true, look: refuses, undo: refuses, words: "s3://kept/a may keep 1 objects", keeps: "ours"},
		"theirs, and is never seen":   {theirs: true, put: aborts, undo: refuses, words: "s3://kept/a may keep 1 objects", keeps: "theirs"},
		"theirs":                      {theirs: true, keeps: "theirs"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var failed, lost atomic.Bool
			server.Before(func(out http.ResponseWriter, request *http.Request) bool {
				of := map[string]answer{http.MethodPut: test.put, http.MethodHead: test.look}
				if failed.Load() {
					of[http.MethodHead] = test.undo
				}
				does := of[request.Method]
				return does != nil && does(out, request)
			})
			server.After(func(request *http.Request) bool {
				return test.lost && request.Method == http.MethodPut && !lost.Swap(true)
			})
			if test.theirs {
				server.Put(t, "a/b", []byte("theirs"))
			}
			batch := opened(t, server.URL("a")).NewBatch()
			err := batch.Write(t.Context(), "b", "text/plain", 4, func(out io.Writer) error {
				_, err := io.WriteString(out, "ours")
				return err
			})
			if err == nil {
				t.Fatal("it is written")
			}
			failed.Store(true)
			if err = batch.Fail(t.Context(), err); !strings.Contains(err.Error(), test.words) ||
				strings.Contains(err.Error(), "may keep") != strings.Contains(test.words, "may keep") {
				t.Errorf("the error is %v, want %q", err, test.words)
			}
			kept := ""
			if len(server.Keys(t)) > 0 {
				kept = string(server.Get(t, "a/b"))
				server.Remove(t, "a/b")
			}
			if kept != test.keeps {
				t.Errorf("the object holds %q in the end, want %q", kept, test.keeps)
			}
		})
	}
}
