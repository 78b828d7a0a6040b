// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	// Name is the bucket that there is.
	Name = "kept"
	// KeyID is whose requests are answered.
	KeyID = "tester"
)

// NewHandler serves an empty bucket, in memory, to who has its credentials.
func NewHandler() (http.Handler, *s3mem.Backend, error) {
	backend := s3mem.New()
	if err := backend.CreateBucket(Name); err != nil {
		return nil, nil, err
	}
	served := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))).Server()
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if !strings.Contains(request.Header.Get("Authorization"), "Credential="+KeyID+"/") {
			Refuse(out, request, http.StatusForbidden, "InvalidAccessKeyId", "there is no such key")
			return
		}
		served.ServeHTTP(out, request)
	}), backend, nil
}

// Refuse answers a request as S3 does what it does not do. Who is not listened to sees a
// broken connection instead.
func Refuse(out http.ResponseWriter, request *http.Request, status int, code, message string) {
	_, _ = io.Copy(io.Discard, request.Body)
	out.Header().Set("Content-Type", "application/xml")
	out.WriteHeader(status)
	_, _ = io.WriteString(out, "<Error><Code>"+code+"</Code><Message>"+message+"</Message></Error>")
}

// BreakOff answers a request for an object, or for what comes after some bytes of it, with no
// more than some bytes, and closes the connection if there are others.
func BreakOff(out http.ResponseWriter, request *http.Request, object []byte, bytes int) {
	first, status := 0, http.StatusOK
	if _, err := fmt.Sscanf(request.Header.Get("Range"), "bytes=%d-", &first); err == nil {
		status = http.StatusPartialContent
		out.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, len(object)-1, len(object)))
	}
	rest := object[first:]
	out.Header().Set("Content-Length", strconv.Itoa(len(rest)))
	out.WriteHeader(status)
	_, _ = out.Write(rest[:min(bytes, len(rest))])
}
