// SPDX-License-Identifier: Apache-2.0

// Package buckets serves buckets to tests, over HTTP as S3 does, and has things go wrong
// with them.
package buckets

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Server serves a bucket until its test ends.
type Server struct {
	http    *httptest.Server
	backend *s3mem.Backend

	mutex  sync.Mutex
	before func(http.ResponseWriter, *http.Request) (answered bool)
	after  func(*http.Request) (lost bool)
}

// Serve serves an empty bucket, and gives the test the credentials of it.
func Serve(t *testing.T) *Server {
	t.Helper()
	Credentials(t, KeyID)
	handler, backend, err := NewHandler()
	if err != nil {
		t.Fatal(err)
	}
	served := &Server{backend: backend}
	served.http = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		before, after := served.hooks()
		if before != nil && before(out, request) {
			return
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if after != nil && after(request) {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(out.Header(), answer.Header())
		out.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(out)
	}))
	t.Cleanup(served.http.Close)
	return served
}

// Credentials are what the test finds in its environment from then on, and nothing else.
func Credentials(t *testing.T, keyID string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// Before has somebody look at each request first, who may answer it.
func (s *Server) Before(look func(out http.ResponseWriter, request *http.Request) (answered bool)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.before = look
}

// After has somebody look at each request that the server did, who may lose its answer.
func (s *Server) After(look func(request *http.Request) (lost bool)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.after = look
}

func (s *Server) hooks() (func(http.ResponseWriter, *http.Request) bool, func(*http.Request) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.before, s.after
}

// URL is a place in the bucket.
func (s *Server) URL(prefix string) string { return s.URLOf(Name, prefix) }

// URLOf is a place in a bucket, which need not be there.
func (s *Server) URLOf(bucket, prefix string) string {
	parameters := url.Values{"endpoint": {s.http.URL}, "region": {"eu-central-1"}, "use_path_style": {"true"}}
	return "s3://" + bucket + "/" + prefix + "?" + parameters.Encode()
}

// Keys are those of all objects.
func (s *Server) Keys(t *testing.T) []string {
	t.Helper()
	list, err := s.backend.ListBucket(Name, nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{}
	for _, object := range list.Contents {
		keys = append(keys, object.Key)
	}
	slices.Sort(keys)
	return keys
}

// Get is what an object holds.
func (s *Server) Get(t *testing.T, key string) []byte {
	t.Helper()
	object, err := s.backend.GetObject(Name, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer object.Contents.Close()
	content, err := io.ReadAll(object.Contents)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Put makes an object, or another of the same key.
func (s *Server) Put(t *testing.T, key string, content []byte) {
	t.Helper()
	if _, err := s.backend.PutObject(Name, key, map[string]string{}, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Remove removes an object.
func (s *Server) Remove(t *testing.T, key string) {
	t.Helper()
	if _, err := s.backend.DeleteObject(Name, key); err != nil {
		t.Fatal(err)
	}
}
