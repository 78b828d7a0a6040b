// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// tune has the operator make the agents of a NodeTuning and take them away.
// Nothing here makes pods of them: to the operator, there is no machine.
func (c cluster) tune(t *testing.T, namespace string) {
	t.Helper()
	tuning := &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: "tuning"},
		Spec:       v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{RmemMaxBytes: 134217728}},
	}
	if err := c.Create(t.Context(), tuning); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(tuning)
	eventually(t, func(ctx context.Context) error {
		if err := c.observe(ctx, namespace, tuning.Name); err != nil {
			return err
		}
		if err := c.Get(ctx, key, tuning); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(tuning.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonNoMachines {
			return fmt.Errorf("the conditions are %+v, want no machines", tuning.Status.Conditions)
		}
		return nil
	})
	if err := c.Delete(t.Context(), tuning); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		// Gone with the tuning, at last.
		if err := c.observe(ctx, namespace, tuning.Name); client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := c.Get(ctx, key, tuning); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the tuning is still there: %+v: %w", tuning.Status.Conditions, err)
		}
		return nil
	})
	var sets appsv1.DaemonSetList
	if err := c.List(t.Context(), &sets); err != nil || len(sets.Items) > 0 {
		t.Errorf("DaemonSets are left: %v: %v", sets.Items, err)
	}
}

// observe says of a DaemonSet, as its controller would, that it was taken up.
func (c cluster) observe(ctx context.Context, namespace, name string) error {
	set := &appsv1.DaemonSet{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, set); err != nil {
		return err
	}
	set.Status.ObservedGeneration = set.Generation
	return c.Status().Update(ctx, set)
}
