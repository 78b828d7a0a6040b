// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/drift"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
)

// applyDaemonSet brings a DaemonSet of agents up to date, and returns it as the
// cluster has it. One that is so already costs nothing but a look at the cache.
func (r *run) applyDaemonSet(ctx context.Context, wanted *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	set, err := r.bringUpToDate(ctx, wanted)
	if err != nil {
		r.note(tuningpolicy.ApplyFailed(err))
		return nil, fmt.Errorf("apply DaemonSet %s: %w", wanted.Name, err)
	}
	return set, nil
}

func (r *run) bringUpToDate(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	wanted, err := drift.Prepare(set)
	if err != nil {
		return nil, err
	}
	live := &appsv1.DaemonSet{}
	err = r.client.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if err == nil {
		if upToDate, err := r.drift.UpToDate(wanted, live); upToDate || err != nil {
			return live, err
		}
	}

	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return nil, err
	}
	// What the cluster has now, whatever the cache still holds.
	applied := &appsv1.DaemonSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, applied); err != nil {
		return nil, err
	}
	return applied, nil
}

// deleteDaemonSets deletes DaemonSets of agents, if they are there.
func (r *Reconciler) deleteDaemonSets(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := r.deleteDaemonSet(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) deleteDaemonSet(ctx context.Context, name string) error {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.settings.Namespace, Name: name}}
	err := r.client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete DaemonSet %s: %w", name, err)
	}
	return nil
}
