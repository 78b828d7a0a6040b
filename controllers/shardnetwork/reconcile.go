// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/topology"
)

// Reconcile brings one network closer to its spec and reports how it is.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	network := &v1alpha1.ShardNetwork{}
	switch err := r.client.Get(ctx, request.NamespacedName, network); {
	case apierrors.IsNotFound(err):
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("read network: %w", err)
	}

	memory := r.memories.of(request.NamespacedName, network.UID)
	if memory.ahead(network.ResourceVersion, r.now()) {
		return ctrl.Result{RequeueAfter: cacheInterval}, nil
	}
	if !network.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, network)
	}
	if wait := memory.tooSoon(r.now(), network.Generation); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return r.run(ctx, network, memory)
}

// run does all tasks of one network. Making objects stops at the first task
// that fails; watching over what is there goes on all the same.
func (r *Reconciler) run(ctx context.Context, network *v1alpha1.ShardNetwork, memory *memory) (ctrl.Result, error) {
	image := policy.ChooseImage(network, r.settings.DefaultNodeImage)
	network.Spec.Node.Image = image.Image
	network = policy.Awaiting(network, &image)
	wanted, err := replacing.RevisionOf(network, image.Image)
	if err != nil {
		return ctrl.Result{}, err
	}
	network = replacing.Effective(network, wanted)
	image.Image = network.Spec.Node.Image
	plan, err := topology.New(network)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan network %s: %w", network.Name, err)
	}
	run := &run{
		Reconciler: r, network: network, wanted: wanted, image: image, plan: plan, memory: memory,
		status: network.Status.DeepCopy(), waitsFor: policy.ForGenesis,
	}
	run.estimateCost()
	run.reachClusters(ctx)
	if policy.LifetimeEnded(network, r.now()) {
		return run.conclude(ctx, run.end(ctx))
	}
	run.liveOn()
	run.readVolumes(ctx)

	failed := run.explain(inTurn(ctx,
		run.readMachines,
		run.keepToBudget,
		run.holdFinalizers,
		run.pinClusters,
		run.ensureKeys,
		run.ensureGenesis,
		run.awaitTuning,
		run.recordImage,
		run.growVolumes,
		run.applyObjects,
	))
	failed = errors.Join(failed,
		run.checkImage(ctx),
		run.applyPodMonitor(ctx),
		run.applyRoute(ctx),
		run.observe(ctx),
		run.drainMachines(ctx),
		run.replaceNodes(ctx),
		run.healNodes(ctx),
	)
	run.tellRefusedLoad(ctx, run.driveLoad(ctx))
	return run.conclude(ctx, errors.Join(failed, run.report(ctx)))
}

// forget lets go of what is kept of a network that is gone.
func (r *Reconciler) forget(network types.NamespacedName) {
	r.memories.forget(network)
	r.restarts.forget(network)
	r.clusters.Forget(network)
}

// inTurn does tasks until one fails.
func inTurn(ctx context.Context, tasks ...func(context.Context) error) error {
	for _, task := range tasks {
		if err := task(ctx); err != nil {
			return err
		}
	}
	return nil
}

// errBlocked ends the making of objects once a condition says why.
var errBlocked = errors.New("blocked")
