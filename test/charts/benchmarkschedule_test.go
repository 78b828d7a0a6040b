// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// testBenchmarkSchedule checks that the operator starts the benchmark of a schedule,
// lists what it comes to, and removes what is not kept.
func (c cluster) testBenchmarkSchedule(t *testing.T) {
	sample, err := manifest.ReadBenchmark("../../config/samples/benchmark/before-after-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Nobody waits for its time: it was just now.
	due := time.Now().UTC().Add(-time.Minute)
	schedule := &v1alpha1.BenchmarkSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "daily"},
		Spec: v1alpha1.BenchmarkScheduleSpec{
			Schedule: fmt.Sprintf("%d %d * * *", due.Minute(), due.Hour()), State: v1alpha1.ScheduleSuspended,
			Template:           v1alpha1.BenchmarkTemplate{Spec: sample.Spec},
			FailedHistoryLimit: ptr.To[int32](0),
		},
	}
	if err := c.Create(t.Context(), schedule); err != nil {
		t.Fatal(err)
	}
	c.resume(t, schedule)
	benchmark := &v1alpha1.Benchmark{}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(schedule), schedule); err != nil {
			return err
		}
		active := schedule.Status.Active
		if active == nil {
			return fmt.Errorf("the status is %+v", schedule.Status)
		}
		key := client.ObjectKey{Namespace: schedule.Namespace, Name: active.Name}
		if err := c.Get(ctx, key, benchmark); err != nil {
			return err
		}
		// No pod runs here, and so no benchmark ends.
		benchmark.Status.Phase, benchmark.Status.EndTime = v1alpha1.BenchmarkFailed, ptr.To(metav1.Now())
		return c.Status().Update(ctx, benchmark)
	})
	eventually(t, func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(schedule), schedule)
		if err != nil || len(schedule.Status.History) == 0 {
			return fmt.Errorf("the status is %+v: %w", schedule.Status, err)
		}
		err = c.Get(ctx, client.ObjectKeyFromObject(benchmark), &v1alpha1.Benchmark{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there: %w", benchmark.Name, err)
		}
		return nil
	})
	if err := c.Delete(t.Context(), schedule); err != nil {
		t.Error(err)
	}
	// Nothing here deletes what belonged to somebody who is gone.
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: benchmark.Namespace, Name: benchmark.Name}}
	if err := c.Delete(t.Context(), network); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// resume has a schedule that is suspended go on as if it had not been for an hour.
func (c cluster) resume(t *testing.T, schedule *v1alpha1.BenchmarkSchedule) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(schedule), schedule); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(schedule.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("the status is %+v", schedule.Status)
		}
		schedule.Status.Timetable = schedule.Spec.Schedule + " (Etc/UTC)"
		schedule.Status.ConsideredTime = ptr.To(metav1.NewTime(time.Now().Add(-time.Hour)))
		if err := c.Status().Update(ctx, schedule); err != nil {
			return err
		}
		schedule.Spec.State = v1alpha1.ScheduleEnabled
		return c.Update(ctx, schedule)
	})
}
