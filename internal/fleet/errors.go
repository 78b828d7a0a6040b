// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrSecretMissing is a member whose Secret does not exist.
var ErrSecretMissing = errors.New("the Secret does not exist")

// SecretError is a Secret that names no cluster.
type SecretError struct {
	// Cause is why; ErrSecretMissing when there is no Secret.
	Cause error
}

// Error says why.
func (e *SecretError) Error() string { return fmt.Sprintf("Secret of the cluster: %v", e.Cause) }

// Unwrap is the cause.
func (e *SecretError) Unwrap() error { return e.Cause }

// Unavailable tells the failure of a whole cluster, whose API server gives no
// answer, or none to these credentials, from its answer to one request.
func Unavailable(err error) bool {
	if answer, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return apierrors.IsUnauthorized(answer) || apierrors.IsServiceUnavailable(answer) ||
			apierrors.IsServerTimeout(answer) || apierrors.IsTimeout(answer) ||
			apierrors.IsTooManyRequests(answer) || apierrors.IsInternalError(answer)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, known := range []error{context.DeadlineExceeded, io.ErrUnexpectedEOF, errNotSynced, errStopped} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
