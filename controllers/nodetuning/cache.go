// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/resources"
)

// CachedObjects are what a manager's cache needs to keep of a kind: DaemonSets
// of the agents' namespace alone, as the operator may see no others.
func CachedObjects(namespace string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&appsv1.DaemonSet{}: {
			Label:      labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy}),
			Namespaces: map[string]cache.Config{namespace: {}},
			Transform:  drift.KeepOwn(FieldManager),
		},
	}
}
