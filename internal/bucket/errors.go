// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

var (
	// ErrExists says that an object is there already.
	ErrExists = errors.New("it is there already")
	// ErrRefused says that who asked may not do it: nothing is done.
	ErrRefused = errors.New("the bucket refuses these credentials")
	// ErrNoCredentials says that nobody was asked.
	ErrNoCredentials = errors.New("there are no credentials")
)

// noCredentials is what the library of S3 says when it finds none, in an error of no type
// that others could see.
const noCredentials = "get identity: get credentials: "

// whatWrite is what is done with objects that need not be there before.
const whatWrite = "write"

// noBucket is what S3 says of a bucket that is not there.
const noBucket = "NoSuchBucket"

// What S3 says of an object that is not there, of one that is, although it was not to be,
// and to who may not ask.
var (
	absences  = []string{"NoSuchKey", "NotFound"}
	presences = []string{"PreconditionFailed"}
	denials   = []string{"AccessDenied", "Forbidden"}
)

// refusals are what S3 says of credentials, beside what a bucket's policy does not allow.
var refusals = []string{"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"}

// explain says in one sentence what could not be done with an object, or with all that
// lies there if it has no name.
func (b *Bucket) explain(what, name string, err error) error {
	if err == nil {
		return nil
	}
	object, code, said := b.url.Object(name), b.codeOf(err), answerOf(err)
	switch {
	case code == gcerrors.PermissionDenied || said.refused:
		return fmt.Errorf("%s %s: %w: %w", what, object, ErrRefused, said)
	case strings.Contains(err.Error(), noCredentials):
		_, why, _ := strings.Cut(err.Error(), noCredentials)
		return fmt.Errorf("%s %s: %w: %s", what, object, ErrNoCredentials, why)
	case said.code == noBucket || code == gcerrors.NotFound && (name == "" || what == whatWrite):
		return fmt.Errorf("%s %s: there is no bucket %s", what, object, b.url.Name)
	case code == gcerrors.NotFound:
		return fmt.Errorf("%s %s: %w", what, object, fs.ErrNotExist)
	case code == gcerrors.FailedPrecondition:
		return fmt.Errorf("%s %s: %w", what, object, ErrExists)
	default:
		return fmt.Errorf("%s %s: %w", what, object, said)
	}
}

// codeOf is the library's code of an error. Of S3, it takes every error that has 301 anywhere
// in it for a bucket that is elsewhere, a port or a date in a name as well; what the server
// said is better.
func (b *Bucket) codeOf(err error) gcerrors.ErrorCode {
	code := gcerrors.Code(err)
	if b.url.Scheme != SchemeS3 || code != gcerrors.NotFound {
		return code
	}
	s3, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return gcerrors.Unknown
	case slices.Contains(absences, s3.ErrorCode()):
		return gcerrors.NotFound
	case slices.Contains(presences, s3.ErrorCode()):
		return gcerrors.FailedPrecondition
	case slices.Contains(denials, s3.ErrorCode()):
		return gcerrors.PermissionDenied
	default:
		return gcerrors.Unknown
	}
}

// answer is what a server said of a request that it did not do.
type answer struct {
	code, message string
	// refused says that it was for who asked.
	refused bool
	cause   error
}

func (a *answer) Error() string {
	if a.code == "" {
		return a.cause.Error()
	}
	return a.code + ": " + a.message
}

func (a *answer) Unwrap() error { return a.cause }

// answerOf finds the server's own words in an error, which also has those of everything
// in between.
func answerOf(err error) *answer {
	if s3, ok := errors.AsType[smithy.APIError](err); ok {
		return &answer{s3.ErrorCode(), s3.ErrorMessage(), slices.Contains(refusals, s3.ErrorCode()), err}
	}
	if google, ok := errors.AsType[*googleapi.Error](err); ok {
		// The library takes one for an object that is not there.
		refused := google.Code == http.StatusUnauthorized || google.Code == http.StatusForbidden
		return &answer{fmt.Sprintf("HTTP status %d", google.Code), google.Message, refused, err}
	}
	// The library wraps what happened into the name of the object, which is said already.
	if strings.HasPrefix(err.Error(), "blob (") {
		err = unwrapped(err)
	}
	// A request that got no answer: the library above says no more of it than that.
	if operation, ok := errors.AsType[*smithy.OperationError](err); ok {
		return &answer{cause: operation}
	}
	return &answer{cause: err}
}

// unwrapped is the first error that another one has in it; that itself if it has none.
func unwrapped(err error) error {
	switch wrapped := err.(type) { //nolint:errorlint // Only the outermost is asked.
	case interface{ Unwrap() []error }:
		return wrapped.Unwrap()[0]
	case interface{ Unwrap() error }:
		return cmp.Or(wrapped.Unwrap(), err)
	default:
		return err
	}
}
