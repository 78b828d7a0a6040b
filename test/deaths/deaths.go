// SPDX-License-Identifier: Apache-2.0

// Package deaths kills an operator at each of its writes.
package deaths

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// ErrKilled is what an operator gets that is killed.
var ErrKilled = errors.New("killed")

// Deaths kill an operator at every write that it makes: when it makes one for the
// first time before it is made, and for the second time after it was. Only one
// operator at a time dies so.
type Deaths struct {
	attempts map[string]int
	// killed says that the operator is dead: it writes no more.
	killed bool
	count  int
}

// Revive starts the next operator.
func (d *Deaths) Revive() { d.killed = false }

// Count is how many operators died.
func (d *Deaths) Count() int { return d.count }

// version is what differs when the same is written again.
var version = regexp.MustCompile(`"resourceVersion":"\d+"`)

func (d *Deaths) at(content string, write func() error) error {
	if d.killed {
		return ErrKilled
	}
	if d.attempts == nil {
		d.attempts = map[string]int{}
	}
	d.attempts[content]++
	switch d.attempts[content] {
	case 1:
		d.killed = true
	case 2:
		if err := write(); err != nil {
			return err
		}
		d.killed = true
	default:
		return write()
	}
	d.count++
	return ErrKilled
}

// Client is that of an operator that dies so.
func (d *Deaths) Client(t *testing.T, config *rest.Config, scheme *runtime.Scheme) client.Client {
	t.Helper()
	base, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	content := func(object runtime.ApplyConfiguration) string {
		encoded, err := json.Marshal(object)
		if err != nil {
			t.Error(err)
		}
		return version.ReplaceAllString(string(encoded), "")
	}
	return interceptor.NewClient(base, interceptor.Funcs{
		Apply: func(ctx context.Context, to client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return d.at(content(object), func() error { return to.Apply(ctx, object, options...) })
		},
		Patch: func(
			ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			changes, err := patch.Data(object)
			if err != nil {
				return err
			}
			what := fmt.Sprint("patch ", object.GetUID(), " ", version.ReplaceAllString(string(changes), ""))
			return d.at(what, func() error { return to.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return d.at(fmt.Sprint("delete ", object.GetUID()), func() error { return to.Delete(ctx, object, options...) })
		},
		SubResourceApply: func(
			ctx context.Context, to client.Client, name string, object runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			return d.at(content(object), func() error { return to.SubResource(name).Apply(ctx, object, options...) })
		},
	})
}
