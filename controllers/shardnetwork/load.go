// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/resources"
)

// driveLoad has every producer sign its share of the load. The load begins when
// the network produces with all its nodes, and again when the spec has another;
// a node that restarted is told again. Nodes that the recorder of a benchmark tells
// their load are left alone, and are told that of the spec again once it does not.
func (r *run) driveLoad(ctx context.Context) error {
	if r.observation == nil {
		return nil
	}
	byRecorder, err := r.loadedByRecorder(ctx)
	if err != nil {
		return err
	}
	if byRecorder {
		r.status.Load = nil
		return nil
	}
	schedule, err := bench.NewSchedule(r.network.Spec.Load)
	if err != nil {
		return fmt.Errorf("load schedule: %w", err)
	}
	if err := r.beginLoad(); err != nil {
		return err
	}

	var rate int64
	if r.status.Load != nil {
		rate = schedule.Rate(r.now().Sub(r.status.Load.StartTime.Time))
	}
	offered, err := r.setLoads(ctx, bench.Split(rate, r.plan.Nodes), bench.Workload(r.network.Spec.Load))
	if r.status.Load != nil {
		r.status.Load.OfferedTransfersPerSecond = ptr.To(offered)
	}
	return err
}

// loadedByRecorder says whether the recorder of a benchmark tells the nodes their load:
// of a benchmark that the network was made for, or of one that says so on the network
// and that there is.
func (r *run) loadedByRecorder(ctx context.Context) (bool, error) {
	name, _ := resources.Claimant(r.network)
	if name == "" {
		return resources.LoadedByRecorder(r.network), nil
	}
	benchmark := &v1alpha1.Benchmark{}
	// A benchmark that has just claimed the network may not be in a cache.
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.network.Namespace, Name: name}, benchmark)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read Benchmark %s: %w", name, err)
	}
	return benchmarkpolicy.LoadClaimed(r.network, benchmark), nil
}

// tellRefusedLoad has the log say which nodes did not take their load. They are
// told again at the next look, which comes at the usual pace: as an error of the
// reconciliation, one such node would have all others looked at without a pause.
// What the producers sign together is in the status.
func (r *run) tellRefusedLoad(ctx context.Context, refused error) {
	if refused != nil {
		ctrl.LoggerFrom(ctx).Error(refused, "load not set")
	}
}

// beginLoad notes when the load of the spec begins; without one, that there is
// none. Load makes traffic, which costs money.
func (r *run) beginLoad() error {
	if r.network.Spec.Load == nil || !r.withinBudget {
		r.status.Load = nil
		return nil
	}
	name, err := scheduleName(r.network.Spec.Load)
	if err != nil {
		return err
	}
	if r.status.Load != nil && r.status.Load.Schedule == name {
		return nil
	}
	r.status.Load = nil
	if diagnosis.NodesReady(r.observation).Status == metav1.ConditionTrue &&
		policy.Producing(r.observation).Status == metav1.ConditionTrue {
		r.status.Load = &v1alpha1.LoadStatus{Schedule: name, StartTime: metav1.NewTime(r.now())}
	}
	return nil
}

// scheduleName tells one load from another.
func scheduleName(load *v1alpha1.LoadSpec) (string, error) {
	content, err := json.Marshal(load)
	if err != nil {
		return "", fmt.Errorf("encode load: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8]), nil
}

// setLoads tells the producers that answer what to sign, and sums what all of
// them sign.
func (r *run) setLoads(ctx context.Context, shares []int64, workload chain.Workload) (int64, error) {
	offered := make([]int64, len(shares))
	failures := make([]error, len(shares))
	var group errgroup.Group
	group.SetLimit(parallelNodes)
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if node.Status == nil || node.Status.Load == nil {
			continue
		}
		offered[i] = node.Status.Load.TransfersPerSecond
		// Without its token, a node in a cluster that cannot be used goes on with
		// what it has, and so does one whose key is not known.
		told := offered[i] == shares[i] && (shares[i] == 0 ||
			node.Status.Load.Workload.Same(workload) && node.Status.Load.Signing.Same(chain.SigningLive))
		if told || !r.keyOf(node).opens() {
			continue
		}
		api := r.nodeClient(node)
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
			defer cancel()
			load, err := api.SetLoad(ctx, chain.LoadTarget{TransfersPerSecond: shares[i], Workload: workload})
			if err != nil {
				failures[i] = fmt.Errorf("set load of %s: %w", node.Validator.Name, err)
				return nil
			}
			offered[i] = load.TransfersPerSecond
			return nil
		})
	}
	_ = group.Wait()

	var total int64
	for _, rate := range offered {
		total += rate
	}
	return total, errors.Join(failures...)
}

// nextLoadStep is how long until the load changes.
func (r *run) nextLoadStep() (time.Duration, bool) {
	if r.status.Load == nil {
		return 0, false
	}
	schedule, err := bench.NewSchedule(r.network.Spec.Load)
	if err != nil {
		return 0, false
	}
	elapsed := r.now().Sub(r.status.Load.StartTime.Time)
	next, ok := schedule.Next(elapsed)
	return next - elapsed, ok
}
