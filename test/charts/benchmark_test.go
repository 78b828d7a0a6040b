// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// testBenchmark checks that the operator takes a benchmark on, as far as that goes
// where no pod runs.
func (c cluster) testBenchmark(t *testing.T) {
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/before-after-local.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := benchmark.Name
	if err := c.Create(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	made := map[string]client.Object{
		name + "-benchmark": &corev1.ConfigMap{}, name + "-records": &corev1.PersistentVolumeClaim{},
		name + "-recorder": &networkingv1.NetworkPolicy{}, name: &v1alpha1.ShardNetwork{},
	}
	eventually(t, func(ctx context.Context) error {
		for name, object := range made {
			if err := c.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, object); err != nil {
				return err
			}
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(benchmark), benchmark); err != nil {
			return err
		}
		if status := &benchmark.Status; status.Phase != v1alpha1.BenchmarkRunning || status.RunsSummary != "0/10" {
			return fmt.Errorf("the status is %+v", status)
		}
		return nil
	})
	c.checkNamedNetwork(t, name)
	// Nothing here deletes what belonged to somebody who is gone.
	objects := []client.Object{benchmark}
	for _, object := range made {
		objects = append(objects, object)
	}
	for _, object := range objects {
		if err := c.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

// checkNamedNetwork checks that the operator may look at all that a benchmark depends on
// which names a network: here, one that another benchmark made.
func (c cluster) checkNamedNetwork(t *testing.T, network string) {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/running-network.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Spec.Network.Name = network
	if err := c.Create(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(benchmark), benchmark); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(benchmark.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonNotRunnable ||
			!strings.Contains(ready.Message, "it carries the load of the Benchmark "+network) {
			return fmt.Errorf("the status is %+v", benchmark.Status)
		}
		return nil
	})
	if err := c.Delete(t.Context(), benchmark); err != nil {
		t.Error(err)
	}
}
