// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// errKilled is what an operator gets that is killed.
var errKilled = errors.New("killed")

// deaths kill an operator at every write that it makes: when it makes one for the
// first time before it is made, and for the second time after it was.
type deaths struct {
	attempts map[string]int
	// killed says that the operator is dead: it writes no more.
	killed bool
	count  int
}

// version is what differs when the same is written again.
var version = regexp.MustCompile(`"resourceVersion":"\d+"`)

func (d *deaths) at(content string, write func() error) error {
	if d.killed {
		return errKilled
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
	return errKilled
}

// client is that of an operator that dies so.
func (d *deaths) client(t *testing.T) client.Client {
	t.Helper()
	base, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
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

// An operator is killed before, and after, each of its writes. The benchmark comes to
// the same end, by as many loads and recorders as if it had not been.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions = 2 })
	deaths := &deaths{attempts: map[string]int{}}
	mortal := deaths.client(t)
	for range 2 * maxSteps {
		if c.ended() {
			break
		}
		c.act()
		deaths.killed = false
		reconciler := &Reconciler{
			client: mortal, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
		}
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if len(c.networks) != 2 || len(c.recorders) != 2 {
		t.Errorf("%d networks carried a load, and %d recorders ran, want 2 of each", len(c.networks), len(c.recorders))
	}
	// Each run makes a network, a recorder and a load, and removes two objects.
	if deaths.count < 30 {
		t.Errorf("the operator was killed %d times only", deaths.count)
	}
}
