// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

// annotationApplied is a hash of what was applied. It tells when something is
// no longer set, which a look at the object's fields does not.
const annotationApplied = "shardyard.dev/applied"

// applyDaemonSet brings the DaemonSet of the agents up to date, and returns it
// as the cluster has it. One that is so already costs nothing but a look at the
// cache.
func (r *run) applyDaemonSet(ctx context.Context, settings *v1alpha1.NodeTuningSettings) (*appsv1.DaemonSet, error) {
	encoded, err := tuning.Encode(settings)
	if err != nil {
		return nil, err
	}
	wanted := resources.NewTuningDaemonSet(r.tuning, r.settings.Namespace, r.settings.Image, encoded)
	if err := sign(wanted); err != nil {
		return nil, err
	}
	live := &appsv1.DaemonSet{}
	err = r.client.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if err == nil && upToDate(wanted, live) {
		return live, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}

	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	applied := &unstructured.Unstructured{Object: content}
	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return nil, err
	}
	// What the cluster has now, whatever the cache still holds.
	set := &appsv1.DaemonSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, set); err != nil {
		return nil, err
	}
	return set, nil
}

// sign puts a hash of the DaemonSet's content into its annotations.
func sign(set *appsv1.DaemonSet) error {
	content, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("encode DaemonSet: %w", err)
	}
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, annotationApplied, tuning.Hash(string(content)))
	return nil
}

// upToDate says whether a DaemonSet has everything that is wanted. What others
// add, such as defaults, does not matter.
func upToDate(wanted, live *appsv1.DaemonSet) bool {
	return live.Annotations[annotationApplied] == wanted.Annotations[annotationApplied] &&
		equality.Semantic.DeepDerivative(wanted.Labels, live.Labels) &&
		equality.Semantic.DeepDerivative(wanted.Spec, live.Spec)
}

func (r *Reconciler) deleteDaemonSet(ctx context.Context, name string) error {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.settings.Namespace, Name: name}}
	err := r.client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete DaemonSet of agents: %w", err)
	}
	return nil
}
