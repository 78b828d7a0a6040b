// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/deaths"
)

// An operator is killed before, and after, each of its writes. The benchmark comes to
// the same end, by as many loads and recorders as if it had not been.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions = 2 })
	killer := &deaths.Deaths{}
	mortal := killer.Client(t, apiServer, scheme)
	for range 2 * maxSteps {
		if c.ended() {
			break
		}
		c.act()
		killer.Revive()
		reconciler := &Reconciler{
			client: mortal, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
		}
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
		if err != nil && !errors.Is(err, deaths.ErrKilled) {
			t.Fatal(err)
		}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if len(c.networks) != 2 || len(c.recorders) != 2 {
		t.Errorf("%d networks carried a load, and %d recorders ran, want 2 of each", len(c.networks), len(c.recorders))
	}
	// Each run makes a network, a recorder and a load, and removes two objects.
	if killer.Count() < 30 {
		t.Errorf("the operator was killed %d times only", killer.Count())
	}
}
