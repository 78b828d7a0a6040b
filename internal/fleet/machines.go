// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// machinesTimeout is how long the first fill of a cache with machines may take,
// once it is known that they may be read.
const machinesTimeout = 2 * time.Second

// errMachinesNotRead are machines that the cache does not have yet.
var errMachinesNotRead = fmt.Errorf("they were not read within %s", machinesTimeout)

// ListMachines lists the machines of a cluster from its cache. A cluster that was
// joined by an earlier version may not let the operator look at machines: the
// cache would wait for them, and not say what for.
func ListMachines(ctx context.Context, cached cache.Cache, direct client.Reader) (*corev1.NodeList, error) {
	machines := &corev1.NodeList{}
	informer, err := cached.GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	if !informer.HasSynced() {
		if err := direct.List(ctx, machines, client.Limit(1)); err != nil {
			return nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, machinesTimeout)
		defer cancel()
		if !toolscache.WaitForCacheSync(waiting.Done(), informer.HasSynced) {
			return nil, errMachinesNotRead
		}
	}
	return machines, cached.List(ctx, machines)
}

// TrimMachine keeps of a machine in a cache what tells whether it keeps its
// pods. The rest, such as its images, is most of it.
func TrimMachine(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Node{
		Spec: corev1.NodeSpec{Unschedulable: node.Spec.Unschedulable, Taints: node.Spec.Taints},
	}
	trimmed.Name, trimmed.UID, trimmed.ResourceVersion = node.Name, node.UID, node.ResourceVersion
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			trimmed.Status.Conditions = []corev1.NodeCondition{node.Status.Conditions[i]}
		}
	}
	return trimmed, nil
}
