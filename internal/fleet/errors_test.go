// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

func TestUnavailable(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupResource{Resource: "secrets"}
	noAnswer := &url.Error{Op: "Get", URL: "https://203.0.113.7", Err: errors.New("connection refused")}
	cases := map[string]struct {
		err  error
		want bool
	}{
		"nothing":      {nil, false},
		"no answer":    {noAnswer, true},
		"no kinds":     {&apiutil.ErrResourceDiscoveryFailed{schema.GroupVersion{}: noAnswer}, true},
		"too slow":     {fmt.Errorf("apply: %w", context.DeadlineExceeded), true},
		"not synced":   {errNotSynced, true},
		"no account":   {apierrors.NewUnauthorized("Unauthorized"), true},
		"shutting":     {apierrors.NewServiceUnavailable("apiserver is shutting down"), true},
		"overloaded":   {apierrors.NewTooManyRequests("wait", 1), true},
		"broken":       {apierrors.NewInternalError(errors.New("etcd")), true},
		"no right":     {fmt.Errorf("apply: %w", apierrors.NewForbidden(secrets, "x", errors.New("no"))), false},
		"not found":    {apierrors.NewNotFound(secrets, "x"), false},
		"conflict":     {apierrors.NewConflict(secrets, "x", errors.New("no")), false},
		"our own":      {errors.New("name taken"), false},
		"we are ended": {context.Canceled, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Unavailable(test.err); got != test.want {
				t.Errorf("%v counts as unavailable: %v, want %v", test.err, got, test.want)
			}
		})
	}
}
