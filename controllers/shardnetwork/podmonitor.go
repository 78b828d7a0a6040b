// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// podMonitorInterval is how often it is seen whether the cluster has the kind
// PodMonitor, and the network its own.
const podMonitorInterval = time.Minute

// applyPodMonitor has the nodes scraped where the Prometheus operator runs. Its
// kind may be missing, or come later: nothing else depends on it.
func (r *run) applyPodMonitor(ctx context.Context) error {
	if r.now().Sub(r.memory.lastPodMonitor) < podMonitorInterval {
		// What was found then holds of the present spec as well.
		if found := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionMonitored); found != nil {
			r.note(*found)
		}
		return nil
	}
	monitor := resources.NewPodMonitor(r.network, r.settings.PodMonitorLabels)
	if err := sign(monitor); err != nil {
		return fmt.Errorf("PodMonitor %s: %w", monitor.GetName(), err)
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(resources.KindPodMonitor)
	err := r.reader.Get(ctx, client.ObjectKeyFromObject(monitor), live)
	if meta.IsNoMatchError(err) {
		r.memory.lastPodMonitor = r.now()
		r.note(policy.PodMonitorUnavailable())
		return nil
	}
	switch {
	case apierrors.IsNotFound(err), err == nil && !upToDate(monitor, live.Object):
		err = r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(monitor),
			client.FieldOwner(FieldManager), client.ForceOwnership)
	}
	if err != nil {
		return fmt.Errorf("apply PodMonitor %s: %w", monitor.GetName(), err)
	}
	r.memory.lastPodMonitor = r.now()
	r.note(policy.PodMonitorApplied(monitor.GetName()))
	return nil
}
