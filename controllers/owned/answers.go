// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Unanswered tells an API server that gave no answer to a request, or was too busy for
// one, from one that refused it. Nobody has to change anything then: the request is made
// again.
func Unanswered(err error) bool {
	if answer, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return apierrors.IsServiceUnavailable(answer) || apierrors.IsServerTimeout(answer) ||
			apierrors.IsTimeout(answer) || apierrors.IsTooManyRequests(answer)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF)
}
