// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// podMonitorInterval is how often it is seen whether the cluster has the kind
// PodMonitor, and the network its own.
const podMonitorInterval = time.Minute

// podMonitorRetry is how long it takes until that is seen again after it could not be
// seen, or a PodMonitor not be made: an API server that had no time has some soon.
const podMonitorRetry = 5 * time.Second

// applyPodMonitor has the nodes scraped where the Prometheus operator runs. Its
// kind may be missing, or come later: nothing else depends on it. A network that
// may not be made gets none.
func (r *run) applyPodMonitor(ctx context.Context) error {
	if !r.held || r.now().Sub(r.memory.lastPodMonitor) < podMonitorInterval {
		// What was found before holds of the present spec as well. That it could be
		// written then is not said.
		found := r.memory.monitored
		if found == nil {
			found = meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionMonitored)
		}
		if found != nil {
			r.note(*found)
		}
		return nil
	}
	var lock sync.Mutex
	var lacking []string
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		if len(s.validators) == 0 {
			return nil
		}
		monitor := resources.NewPodMonitor(r.network, r.settings.PodMonitorLabels, r.settings.LibraryMetrics)
		if !s.home() {
			resources.Export(r.network, monitor)
		}
		wanted, err := drift.Prepare(monitor)
		if err != nil {
			return fmt.Errorf("PodMonitor %s: %w", monitor.GetName(), err)
		}
		found, err := r.ensureOptional(ctx, s, wanted)
		if err == nil && found == nil {
			lock.Lock()
			defer lock.Unlock()
			lacking = append(lacking, s.cluster)
		}
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	memory := r.memory
	memory.lastPodMonitor = r.now()
	switch {
	case err != nil:
		// The network runs without: only its condition says so.
		memory.lastPodMonitor = r.now().Add(podMonitorRetry - podMonitorInterval)
		memory.monitored = ptr.To(policy.PodMonitorFailed(err))
	case len(lacking) > 0:
		memory.monitored = ptr.To(policy.PodMonitorUnavailable(lacking))
	default:
		lost := r.lostSites()
		memory.monitored = ptr.To(policy.PodMonitorApplied(r.network.Name, lost))
		if len(lost) > 0 {
			memory.lastPodMonitor = r.now().Add(podMonitorRetry - podMonitorInterval)
		}
		if !r.holdsNodesNow() {
			memory.monitored = ptr.To(policy.MonitoringUnknown(lost))
		}
	}
	r.note(*memory.monitored)
	return nil
}
