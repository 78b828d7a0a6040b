// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Read reads what Find compares, of some namespaces or, when there are none, of
// all. Volumes are of the namespace of the claim that they were made for.
func Read(ctx context.Context, reader client.Reader, namespaces ...string) (*Cluster, error) {
	var volumes corev1.PersistentVolumeList
	if err := reader.List(ctx, &volumes); err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	cluster := &Cluster{Volumes: volumes.Items}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	} else {
		cluster.Volumes = slices.DeleteFunc(cluster.Volumes, func(volume corev1.PersistentVolume) bool {
			claim := volume.Spec.ClaimRef
			return claim == nil || !slices.Contains(namespaces, claim.Namespace)
		})
	}
	for _, namespace := range namespaces {
		if err := cluster.read(ctx, reader, namespace); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}

// read adds what a namespace holds. Networks come last: what belongs to one that is
// made meanwhile must not be taken for left over.
func (c *Cluster) read(ctx context.Context, reader client.Reader, namespace string) error {
	var (
		claims   corev1.PersistentVolumeClaimList
		sets     appsv1.StatefulSetList
		pods     corev1.PodList
		networks v1alpha1.ShardNetworkList
		// Their metadata says all.
		configMaps metav1.PartialObjectMetadataList
	)
	configMaps.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	ours := client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}
	if err := reader.List(ctx, &claims, client.InNamespace(namespace), ours); err != nil {
		return fmt.Errorf("list volume claims: %w", err)
	}
	if err := reader.List(ctx, &sets, client.InNamespace(namespace), ours); err != nil {
		return fmt.Errorf("list validators: %w", err)
	}
	if err := reader.List(ctx, &pods, client.InNamespace(namespace), ours); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	if err := reader.List(ctx, &configMaps, client.InNamespace(namespace), ours); err != nil {
		return fmt.Errorf("list configurations: %w", err)
	}
	// A cluster without the operator, such as a member, has no networks.
	err := reader.List(ctx, &networks, client.InNamespace(namespace))
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("list networks: %w", err)
	}
	c.Claims = append(c.Claims, claims.Items...)
	c.StatefulSets = append(c.StatefulSets, sets.Items...)
	c.Pods = append(c.Pods, pods.Items...)
	c.ConfigMaps = append(c.ConfigMaps, configMaps.Items...)
	c.Networks = append(c.Networks, networks.Items...)
	return nil
}
