// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/drift"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/resources"
)

// errNameTaken is a benchmark of somebody else.
var errNameTaken = errors.New("it belongs to somebody else")

// start makes the benchmark that is due. When that fails, nothing is noted of it, so
// it is tried again.
func (r *run) start(ctx context.Context, observation *schedulepolicy.Observation, due time.Time) error {
	benchmark, err := r.make(ctx, due, schedulepolicy.LastSucceeded(observation))
	switch {
	case err == nil:
		schedulepolicy.NoteMade(observation, r.status, benchmark, due)
		return nil
	case errors.Is(err, context.Canceled):
		return err
	}
	r.status, r.news = r.schedule.Status.DeepCopy(), nil
	if owned.Unanswered(err) {
		// Nobody has to change anything, and what was noted before stays.
		return err
	}
	reason, words := condition.ApplyRefused(err)
	if errors.Is(err, errNameTaken) {
		reason, words = benchmarkpolicy.NameTaken(v1alpha1.KindBenchmark, resources.ScheduledName(r.schedule.Name, due))
	}
	schedulepolicy.Hold(observation, r.status, reason, words)
	return err
}

// make makes a benchmark, unless there is one of its name that is somebody else's. One
// that was made before stays as it is: what it is compared with may be gone by now.
func (r *run) make(ctx context.Context, due time.Time, last *v1alpha1.BenchmarkArtifact) (*v1alpha1.Benchmark, error) {
	benchmark := resources.NewScheduledBenchmark(r.schedule, due, last)
	live := &v1alpha1.Benchmark{}
	err := r.reader.Get(ctx, client.ObjectKeyFromObject(benchmark), live)
	if err == nil && !metav1.IsControlledBy(live, r.schedule) {
		return nil, fmt.Errorf("make Benchmark %s: %w", benchmark.Name, errNameTaken)
	}
	if err == nil {
		return live, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read Benchmark %s: %w", benchmark.Name, err)
	}
	wanted, err := drift.Prepare(benchmark)
	if err != nil {
		return nil, fmt.Errorf("make Benchmark %s: %w", benchmark.Name, err)
	}
	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("apply Benchmark %s: %w", benchmark.Name, err)
	}
	benchmark.UID = wanted.GetUID()
	return benchmark, nil
}

// remove deletes a benchmark that is no longer kept, and with it its result.
func (r *run) remove(ctx context.Context, benchmark *v1alpha1.Benchmark) error {
	uid := benchmark.UID
	err := r.client.Delete(ctx, benchmark,
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// It is gone, or it is another one.
		return nil
	}
	return fmt.Errorf("delete Benchmark %s: %w", benchmark.Name, err)
}
