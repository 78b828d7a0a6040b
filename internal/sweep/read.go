// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Read reads what Find compares, of a namespace or, when it is empty, of all.
// Volumes are in none. Networks come last: what belongs to one that is made
// meanwhile must not be taken for left over.
func Read(ctx context.Context, reader client.Reader, namespace string) (*Cluster, error) {
	var (
		claims   corev1.PersistentVolumeClaimList
		volumes  corev1.PersistentVolumeList
		sets     appsv1.StatefulSetList
		networks v1alpha1.ShardNetworkList
	)
	ours := client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}
	if err := reader.List(ctx, &volumes); err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	if err := reader.List(ctx, &claims, client.InNamespace(namespace), ours); err != nil {
		return nil, fmt.Errorf("list volume claims: %w", err)
	}
	if err := reader.List(ctx, &sets, client.InNamespace(namespace), ours); err != nil {
		return nil, fmt.Errorf("list validators: %w", err)
	}
	// A cluster without the operator, such as a member, has no networks.
	err := reader.List(ctx, &networks, client.InNamespace(namespace))
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	return &Cluster{Networks: networks.Items, StatefulSets: sets.Items, Claims: claims.Items, Volumes: volumes.Items}, nil
}
