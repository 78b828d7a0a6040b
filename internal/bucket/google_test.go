// SPDX-License-Identifier: Apache-2.0

package bucket_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shardyard/shardyard/internal/bucket"
)

// google is a bucket as Google Cloud Storage serves one, as far as it is asked here.
type google struct {
	mutex   sync.Mutex
	objects map[string][]byte
	// asked counts the requests, and status is what all are answered with; 0 for what they
	// ask.
	asked, status int
}

// serveGoogle serves a bucket, and gives the test the credentials of it.
func serveGoogle(t *testing.T) *google {
	t.Helper()
	made := &google{objects: map[string][]byte{}}
	server := httptest.NewServer(made)
	t.Cleanup(server.Close)
	// The library gives no token to a server that stands in for Google's.
	credentials := []byte(`{"type": "authorized_user", "client_id": "tester", "client_secret": "secret", "refresh_token": "secret"}`)
	path := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(path, credentials, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	return made
}

func (g *google) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	out.Header().Set("Content-Type", "application/json")
	name, ofObject := strings.CutPrefix(request.URL.Path, "/storage/v1/b/kept/o/")
	switch {
	case g.status != 0:
		g.asked++
		g.refuse(out, g.status, "not now")
	case strings.HasPrefix(request.URL.Path, "/upload/"):
		g.upload(out, request)
	case request.URL.Path == "/storage/v1/b/kept/o":
		g.list(out, request.URL.Query().Get("prefix"))
	case ofObject && request.Method == http.MethodDelete && g.objects[name] != nil:
		delete(g.objects, name)
		out.WriteHeader(http.StatusNoContent)
	case request.Method == http.MethodGet && g.objects[strings.TrimPrefix(request.URL.Path, "/kept/")] != nil:
		content := g.objects[strings.TrimPrefix(request.URL.Path, "/kept/")]
		out.Header().Set("Content-Type", "text/plain")
		_, _ = out.Write(content)
	default:
		g.refuse(out, http.StatusNotFound, "there is nothing")
	}
}

func (g *google) refuse(out http.ResponseWriter, status int, message string) {
	out.WriteHeader(status)
	_, _ = fmt.Fprintf(out, `{"error": {"code": %d, "message": %q}}`, status, message)
}

// upload takes an object in one request.
func (g *google) upload(out http.ResponseWriter, request *http.Request) {
	_, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil {
		g.refuse(out, http.StatusBadRequest, err.Error())
		return
	}
	parts := multipart.NewReader(bufio.NewReader(request.Body), parameters["boundary"])
	var described struct{ Name string }
	var content []byte
	for i := range 2 {
		part, err := parts.NextPart()
		if err == nil && i == 0 {
			err = json.NewDecoder(part).Decode(&described)
		} else if err == nil {
			content, err = io.ReadAll(part)
		}
		if err != nil {
			g.refuse(out, http.StatusBadRequest, err.Error())
			return
		}
	}
	if g.objects[described.Name] != nil && request.URL.Query().Get("ifGenerationMatch") == "0" {
		g.refuse(out, http.StatusPreconditionFailed, "there is another")
		return
	}
	g.objects[described.Name] = append([]byte{}, content...)
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
	_, _ = fmt.Fprintf(out, `{"name": %q, "bucket": "kept", "size": "%d", "crc32c": %q}`,
		described.Name, len(content), base64.StdEncoding.EncodeToString(sum))
}

func (g *google) list(out io.Writer, prefix string) {
	var items []string
	for _, name := range slices.Sorted(maps.Keys(g.objects)) {
		if strings.HasPrefix(name, prefix) {
			items = append(items, fmt.Sprintf(`{"name": %q, "size": "%d", "updated": "2026-11-25T21:00:00Z"}`, name, len(g.objects[name])))
		}
	}
	_, _ = fmt.Fprintf(out, `{"items": [%s]}`, strings.Join(items, ","))
}

// comesBack writes an object, and reads it.
func comesBack(t *testing.T, place *bucket.Bucket, name, content string) {
	t.Helper()
	if err := write(t.Context(), place, name, []byte(content)); err != nil {
		t.Fatal(err)
	}
	in, err := place.Read(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil || string(got) != content {
		t.Errorf("%s is %q (%v)", name, got, err)
	}
}

// With Google, all is as with S3.
func TestObjectsOfGoogle(t *testing.T) {
	server := serveGoogle(t)
	place := opened(t, "gs://kept/a/b")
	if empty, err := place.Empty(t.Context()); err != nil || !empty {
		t.Fatalf("the place is empty: %t (%v)", empty, err)
	}
	comesBack(t, place, "small", "content")
	comesBack(t, place, "folder/empty", "")
	if names, err := place.List(t.Context()); err != nil || !slices.Equal(names, []string{"folder/empty", "small"}) {
		t.Errorf("the names are %v (%v)", names, err)
	}
	err := write(t.Context(), place, "small", []byte("other"))
	if err == nil || err.Error() != "write gs://kept/a/b/small: it is there already" {
		t.Errorf("the error is %v", err)
	}
	if err := errors.Join(place.Remove(t.Context(), "small"), place.Remove(t.Context(), "small")); err != nil {
		t.Error(err)
	}
	if _, err := place.Read(t.Context(), "small"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	if got := slices.Sorted(maps.Keys(server.objects)); !slices.Equal(got, []string{"a/b/folder/empty"}) {
		t.Errorf("the objects are %v", got)
	}
	_, err = opened(t, "gs://absent/a").Empty(t.Context())
	if err == nil || err.Error() != "look at gs://absent/a: there is no bucket absent" {
		t.Errorf("the error is %v", err)
	}
}

// What Google does not do is said in its own words, and is not tried for ever. What it
// refuses is not what is not there.
func TestRefusalsOfGoogle(t *testing.T) {
	server := serveGoogle(t)
	place := opened(t, "gs://kept/a")
	look := func() error { _, err := place.Empty(t.Context()); return err }
	read := func() error { _, err := place.Read(t.Context(), "b"); return err }
	remove := func() error { return place.Remove(t.Context(), "b") }
	for name, test := range map[string]struct {
		do            func() error
		status, asked int
		words         string
	}{
		"a list":    {look, http.StatusForbidden, 1, "look at gs://kept/a: the bucket refuses these credentials: HTTP status 403: not now"},
		"a read":    {read, http.StatusForbidden, 1, "read gs://kept/a/b: the bucket refuses these credentials: HTTP status 403: "},
		"a removal": {remove, http.StatusUnauthorized, 1, "remove gs://kept/a/b: the bucket refuses these credentials: HTTP status 401: not now"},
		"no server": {look, http.StatusServiceUnavailable, 3, "HTTP status 503: not now"},
	} {
		server.asked, server.status = 0, test.status
		if err := test.do(); err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.words)
		}
		if server.asked != test.asked {
			t.Errorf("%s: it asked %d times, want %d", name, server.asked, test.asked)
		}
	}
}
