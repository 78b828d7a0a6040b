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
	found, err := r.ensurePodMonitor(ctx, monitor)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.memory.lastPodMonitor = r.now()
	switch {
	case err != nil:
		// The network runs without: only its condition says so.
		r.note(policy.PodMonitorFailed(err))
	case !found:
		r.note(policy.PodMonitorUnavailable())
	default:
		r.note(policy.PodMonitorApplied(monitor.GetName()))
	}
	return nil
}

// ensurePodMonitor says whether the cluster has the kind, and then the
// PodMonitor as it should be.
func (r *run) ensurePodMonitor(ctx context.Context, monitor *unstructured.Unstructured) (bool, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(resources.KindPodMonitor)
	err := r.reader.Get(ctx, client.ObjectKeyFromObject(monitor), live)
	switch {
	case meta.IsNoMatchError(err):
		return false, nil
	case err == nil && upToDate(monitor, live.Object):
		return true, nil
	case err == nil:
		if err := r.mine(live, resources.KindPodMonitor.Kind); err != nil {
			return false, err
		}
	case !apierrors.IsNotFound(err):
		return false, err
	}
	err = r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(monitor),
		client.FieldOwner(FieldManager), client.ForceOwnership)
	// A kind that went away while the operator ran is still known to it.
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}
