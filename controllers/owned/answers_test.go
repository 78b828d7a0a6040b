// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/shardyard/shardyard/controllers/owned"
)

func TestUnanswered(t *testing.T) {
	t.Parallel()
	pods := corev1.Resource("pods")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{apierrors.NewServerTimeout(pods, "get", 1), true},
		{apierrors.NewTimeoutError("slow", 1), true},
		{apierrors.NewTooManyRequests("busy", 1), true},
		{apierrors.NewServiceUnavailable("starting"), true},
		{&url.Error{Op: "Get", URL: "https://192.0.2.1", Err: errors.New("connection refused")}, true},
		{context.DeadlineExceeded, true},
		{io.ErrUnexpectedEOF, true},
		{apierrors.NewForbidden(pods, "a", errors.New("exceeded quota")), false},
		{apierrors.NewNotFound(corev1.Resource("serviceaccounts"), "a"), false},
		// A webhook that is gone stays so until somebody mends it.
		{apierrors.NewInternalError(errors.New("failed calling webhook")), false},
		{errors.New("another"), false},
	} {
		if got := owned.Unanswered(fmt.Errorf("read Pod a: %w", test.err)); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
