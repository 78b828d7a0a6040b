// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/resources"
)

// CacheOptions keep only what networks are made of, and of machines what tells
// whether they keep their pods: a cluster has many more pods, Secrets and
// ConfigMaps than those.
func CacheOptions() cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy})}
	return cache.Options{
		DefaultTransform: drift.KeepOwn(FieldManager),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.StatefulSet{}:           ours,
			&corev1.ConfigMap{}:             ours,
			&corev1.Node{}:                  {Transform: fleet.TrimMachine},
			&corev1.Pod{}:                   ours,
			&corev1.Secret{}:                ours,
			&corev1.Service{}:               ours,
			&networkingv1.NetworkPolicy{}:   ours,
			&policyv1.PodDisruptionBudget{}: ours,
			&storagev1.StorageClass{}:       ours,
		},
	}
}
