// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// benchmarkSchedule is a BenchmarkSchedule of the cluster.
type benchmarkSchedule struct {
	*v1alpha1.BenchmarkSchedule
	*cluster
}

// newBenchmarkSchedule makes a schedule of every minute. When the test fails, it says
// how it was.
func (c *cluster) newBenchmarkSchedule(t *testing.T, name string, repetitions int32) *benchmarkSchedule {
	t.Helper()
	s := &benchmarkSchedule{cluster: c, BenchmarkSchedule: &v1alpha1.BenchmarkSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchmarkNamespace, Name: name},
		Spec: v1alpha1.BenchmarkScheduleSpec{
			Schedule: "* * * * *",
			Template: v1alpha1.BenchmarkTemplate{Spec: newBenchmarkSpec(repetitions)},
		},
	}}
	if err := c.Create(t.Context(), s.BenchmarkSchedule); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.show(t, "--namespace", s.Namespace, "describe", "benchmarkschedule", s.Name)
		}
	})
	return s
}

func (s *benchmarkSchedule) read(ctx context.Context) error {
	return s.Get(ctx, client.ObjectKeyFromObject(s.BenchmarkSchedule), s.BenchmarkSchedule)
}

// untilStarted waits for the first benchmark. When the test fails, it says how that
// was.
func (s *benchmarkSchedule) untilStarted(t *testing.T) *benchmark {
	t.Helper()
	eventually(t, "the first benchmark of "+s.Name, func(ctx context.Context) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		if s.Status.Active == nil {
			return fmt.Errorf("the status is %+v", s.Status)
		}
		return nil
	})
	b := &benchmark{cluster: s.cluster, Benchmark: &v1alpha1.Benchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Status.Active.Name},
	}}
	t.Cleanup(func() {
		if t.Failed() {
			b.show(t)
		}
	})
	if err := b.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	active := s.Status.Active
	if b.Name != resources.ScheduledName(s.Name, active.ScheduleTime.Time) || !metav1.IsControlledBy(b.Benchmark, s.BenchmarkSchedule) {
		t.Errorf("the first benchmark is %+v, and the schedule says %+v", b.ObjectMeta, active)
	}
	return b
}

// suspend has no further benchmark be started.
func (s *benchmarkSchedule) suspend(t *testing.T) {
	t.Helper()
	eventually(t, s.Name+" to be suspended", func(ctx context.Context) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		if s.Spec.State != v1alpha1.ScheduleSuspended {
			s.Spec.State = v1alpha1.ScheduleSuspended
			if err := s.Update(ctx, s.BenchmarkSchedule); err != nil {
				return err
			}
		}
		if ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonSuspended {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
}

// checkListed checks that the schedule says what its only benchmark came to.
func (s *benchmarkSchedule) checkListed(t *testing.T, b *benchmark) {
	t.Helper()
	eventually(t, "the result of "+s.Name, func(ctx context.Context) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		if s.Status.LastResult == nil || s.Status.Active != nil {
			return fmt.Errorf("the status is %+v", s.Status)
		}
		return nil
	})
	status := &s.Status
	last := status.LastResult
	if last.Name != b.Name || last.Phase != b.Status.Phase || last.TransfersPerSecond == nil ||
		*last.TransfersPerSecond != *b.Status.TransfersPerSecond || last.BlockTimeMilliseconds == "" {
		t.Errorf("the result is %+v, want that of %+v", last, b.Status)
	}
	if len(status.History) != 1 || status.LastSuccessfulTime == nil || !status.LastSuccessfulTime.Equal(b.Status.EndTime) {
		t.Errorf("the status is %+v", status)
	}
	all := &v1alpha1.BenchmarkList{}
	if err := s.List(t.Context(), all, client.InNamespace(s.Namespace),
		client.MatchingLabels{resources.LabelBenchmarkSchedule: s.Name}); err != nil || len(all.Items) != 1 {
		t.Errorf("there are %d benchmarks of a schedule that was suspended during its first: %v", len(all.Items), err)
	}
}

// remove deletes the schedule, and waits until nothing is left of it and its
// benchmark.
func (s *benchmarkSchedule) remove(t *testing.T, b *benchmark) {
	t.Helper()
	if err := s.Delete(t.Context(), s.BenchmarkSchedule, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of all of "+s.Name, func(ctx context.Context) error {
		if err := s.read(ctx); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there: %w", err)
		}
		if err := b.read(ctx); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there: %w", b.Name, err)
		}
		return nil
	})
	b.network(t, b.Namespace, b.Name).waitForEnd(t)
}
