// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/ed25519"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// run is one reconciliation of one network.
type run struct {
	*Reconciler

	// network is as its nodes are to be, and wanted what its spec asks of them:
	// the same, unless that was rolled back.
	network *v1alpha1.ShardNetwork
	wanted  *v1alpha1.NodeRevision
	plan    *topology.Plan
	memory  *memory
	// status is what will be reported.
	status *v1alpha1.ShardNetworkStatus
	// image is which image nodes are made with. It is that of the network's spec
	// for the time of this run.
	image policy.ImageChoice
	// withinBudget is true when the network may cost what it does.
	withinBudget bool
	// held is true once the finalizers are there, and the clusters are pinned, that what
	// is made from then on goes by.
	held bool

	// sites are the parts of the network by cluster, the operator's own first.
	sites []*site

	// publicKeys are those of the validators, as their Secrets hold them, and
	// genesisKeys those by which the genesis document names them.
	publicKeys  map[string]ed25519.PublicKey
	genesisKeys map[string]ed25519.PublicKey
	// began is true once validators were made from the genesis document.
	began bool
	// blocked is true when a person has to mend something first: a condition says
	// what.
	blocked bool
	// awaitsClusters is true when nothing is made or changed anywhere until the
	// clusters can be used that cannot be now.
	awaitsClusters bool
	// waitsFor is what the objects wait for while they are not made.
	waitsFor string
	// machines are what the network's NodeTuning says of them; nil when it could
	// not be read.
	machines *policy.Machines
	// volumes are those of the plan's nodes, in its order; none when the network has
	// none. looked is true when their claims were looked at in this run.
	volumes     []policy.Volume
	looked      bool
	observation *observed.Network
	// podsRead is true once API servers were asked for the pods of the observation, and
	// podsUnread why they did not tell them.
	podsRead   bool
	podsUnread error
	// replaces is true when nodes are replaced in this run.
	replaces bool

	// superseded is true when a status was not written, because somebody wrote the network
	// since it was read.
	superseded bool

	// lock guards the conditions of the status while clusters are worked on side
	// by side.
	lock sync.Mutex
}

// note takes a condition into the report.
func (r *run) note(condition metav1.Condition) {
	r.lock.Lock()
	defer r.lock.Unlock()
	condition.ObservedGeneration = r.network.Generation
	condition.LastTransitionTime = metav1.NewTime(r.now())
	meta.SetStatusCondition(&r.status.Conditions, condition)
}

// readsAgain says whether the network is only to be read again, whatever failed, because
// somebody wrote it while it was worked on. That it was so the last time as well is an
// error: a cache may hear of nothing any more.
func (r *run) readsAgain(ctx context.Context, failed error) bool {
	first := r.superseded && !r.memory.superseded
	r.memory.superseded = r.superseded
	if first {
		ctrl.LoggerFrom(ctx).V(1).Info("read the network again, which was written meanwhile", "failed", failed)
	}
	return first
}

// conclude says when the network is looked at again, given what failed.
func (r *run) conclude(ctx context.Context, failed error) (ctrl.Result, error) {
	if r.readsAgain(ctx, failed) {
		return ctrl.Result{RequeueAfter: minInterval}, nil
	}
	r.memory.done(failed)
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: r.pause()}, nil
}

// pause is how long until the network is looked at again when nothing happens.
func (r *run) pause() time.Duration {
	if next, ok := r.nextLoadStep(); ok && next < pollInterval {
		return max(next, minInterval)
	}
	return pollInterval
}
