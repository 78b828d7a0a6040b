// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"io"
	"log"
	"net/http"
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
