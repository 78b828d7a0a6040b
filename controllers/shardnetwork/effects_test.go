// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/fields"
)

// effect is something that the operator makes of a spec.
type effect = fields.Effect

const (
	// inPlan is which validator serves which shard, in which region.
	inPlan effect = "plan"
	// inGenesis is the document that every node starts from.
	inGenesis effect = "genesis"
	// inConfiguration are the files that each node reads besides: its own
	// configuration and the addresses of all.
	inConfiguration effect = "configuration"
	// inPods are the pods of the validators: what is in it replaces nodes.
	inPods effect = "pods"
	// inDisks are the validators' claims, their class, and what stays of a deleted
	// network.
	inDisks effect = "disks"
	// inObjects are all other objects, and which of all there are.
	inObjects effect = "objects"
	// inRevision is what an update is known by, and a rollback goes back to.
	inRevision effect = "revision"
	// inUpdate is which nodes an update replaces next, and whether it goes on.
	inUpdate effect = "update"
	// inHealing is whether a node that does not keep up is started again, and whether one
	// whose disk is gone gets a new one.
	inHealing effect = "healing"
	// inLoad is what each producer is told to sign, and when.
	inLoad effect = "load"
	// inCost is what the network is estimated to cost, and whether that is within
	// its budget.
	inCost effect = "cost"
	// inLifetime is when the network ends, and how.
	inLifetime effect = "lifetime"
	// inTuning is which tuning of its machines the network waits for.
	inTuning effect = "tuning"
)

// effectsTime is when the operator looks at the networks whose effects are
// compared.
var effectsTime = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// effectsOf is all that the operator makes of a network, as text to compare.
func effectsOf(t *testing.T, network *v1alpha1.ShardNetwork) map[effect]string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	network = network.DeepCopy()
	network.UID = "3f0c1c52-7d33-4d0e-9c2b-0b8d2a6d9e11"
	network.CreationTimestamp = metav1.NewTime(effectsTime)
	plan, err := topology.New(network)
	must(err)
	keys := map[string]ed25519.PublicKey{}
	for _, validator := range plan.Nodes {
		seed := sha256.Sum256([]byte(validator.Name))
		keys[validator.Name] = ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	}
	genesis, err := nodeconfig.NewGenesis(network, plan, keys, effectsTime)
	must(err)
	revision, err := replacing.RevisionOf(network, resources.NodeImage(network, "shardnode:default"))
	must(err)

	found := map[effect]any{
		inPlan:     plan,
		inGenesis:  genesis,
		inRevision: revision,
		inUpdate:   updateEffects(network, plan, revision),
		inHealing:  healingEffects(network, plan, revision),
		inLoad:     loadEffects(t, network, plan),
		inCost:     costEffects(t, network, plan),
		inTuning:   policy.TuningAwaited(network, nil).Message,
		inLifetime: lifetimeEffects(network),
	}
	for name, objects := range objectEffects(t, network, plan, keys) {
		found[name] = objects
	}
	found[inObjects] = []any{found[inObjects], resources.NewRPCRoute(network, plan.Ports)}
	document, err := resources.NewGenesis(network, genesis)
	must(err)
	found[inDisks] = []any{found[inDisks], document.OwnerReferences}

	texts := map[effect]string{}
	for name, value := range found {
		texts[name] = fields.Text(t, value)
	}
	return texts
}

// objectEffects are the objects in all clusters, divided by what they are for.
func objectEffects(
	t *testing.T, network *v1alpha1.ShardNetwork, plan *topology.Plan, keys map[string]ed25519.PublicKey,
) map[effect][]any {
	t.Helper()
	found := map[effect][]any{}
	for _, cluster := range append([]string{""}, plan.Members()...) {
		objects, err := resources.Build(network, plan, resources.Inputs{
			Cluster:           cluster,
			PublicKeys:        keys,
			DefaultNodeImage:  "shardnode:default",
			ClusterDomains:    map[string]string{"": "cluster.local", "far": "far.example"},
			OperatorNamespace: "shardyard-system",
			OperatorAddress:   "10.0.0.1",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			switch object := object.(type) {
			case *corev1.ConfigMap:
				found[inConfiguration] = append(found[inConfiguration], object.Data)
				object.Data = nil
			case *appsv1.StatefulSet:
				found[inPods] = append(found[inPods], object.Spec.Template)
				found[inDisks] = append(found[inDisks], object.Spec.VolumeClaimTemplates, object.Spec.PersistentVolumeClaimRetentionPolicy)
				object.Spec.Template = corev1.PodTemplateSpec{}
				object.Spec.VolumeClaimTemplates, object.Spec.PersistentVolumeClaimRetentionPolicy = nil, nil
			case *storagev1.StorageClass:
				found[inDisks] = append(found[inDisks], object)
				continue
			}
			found[inObjects] = append(found[inObjects], cluster, object)
		}
	}
	return found
}

// loadEffects are what each producer signs in the first minutes.
func loadEffects(t *testing.T, network *v1alpha1.ShardNetwork, plan *topology.Plan) []any {
	t.Helper()
	schedule, err := bench.NewSchedule(network.Spec.Load)
	if err != nil {
		t.Fatal(err)
	}
	told := []any{bench.Workload(network.Spec.Load)}
	for elapsed := time.Duration(0); elapsed < 3*time.Minute; elapsed += time.Second {
		told = append(told, bench.Split(schedule.Rate(elapsed), plan.Nodes))
	}
	return told
}

func costEffects(t *testing.T, network *v1alpha1.ShardNetwork, plan *topology.Plan) []any {
	t.Helper()
	prices, err := cost.ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	estimate := cost.New(network, plan, prices)
	return []any{estimate, policy.WithinBudget(network.Spec.Budget, estimate)}
}

func lifetimeEffects(network *v1alpha1.ShardNetwork) []any {
	end, ends := policy.EndOfLifetime(network)
	return []any{end, ends, policy.WithinLifetime(network, effectsTime)}
}

// updateEffects are what updates come to that go well, that have a node which does
// not come back, and that meet the only copy of a shard.
func updateEffects(network *v1alpha1.ShardNetwork, plan *topology.Plan, wanted *v1alpha1.NodeRevision) []any {
	well := underUpdate(network, plan, wanted)
	away := underUpdate(network, plan, wanted)
	ready := &away.Nodes[0].Pod.Status.Conditions[0]
	ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(effectsTime.Add(-15*time.Minute))

	var found []any
	for _, observation := range []*observed.Network{well, away} {
		rollout := replacing.NewRollout(observation)
		// How an update is called is no effect on it.
		found = append(found, rollout.Replace, rollout.Update.Phase, rollout.Update.Trouble == "")
	}
	// One that has yet to begin.
	well.Network.Status.Update = nil
	return append(found, replacing.NewRollout(well).Replace)
}

// healingEffects are what becomes of a node that has come no closer to the chain for
// some minutes.
func healingEffects(network *v1alpha1.ShardNetwork, plan *topology.Plan, wanted *v1alpha1.NodeRevision) []any {
	observation := underUpdate(network, plan, wanted)
	for i := range observation.Nodes {
		observation.Nodes[i].Outdated, observation.Nodes[i].Status.BlockTimeMs = false, 1000
	}
	stuck, status := &observation.Nodes[0], &observation.Network.Status
	stuck.Status.Height, stuck.Status.FinalizedHeight = 1000, 1000
	status.Update = nil
	status.NodesBehind = []v1alpha1.NodeBehind{{
		Name: stuck.Validator.Name, SinceTime: metav1.NewTime(effectsTime.Add(-400 * time.Second)),
		BehindBlocks: ptr.To[int64](200), FinalizedHeight: ptr.To[int64](1000),
	}}
	healing := replacing.NewHealing(observation)
	return []any{len(healing.Restart), healing.KeepingUp.Reason, lostDiskEffects(underUpdate(network, plan, wanted))}
}

// lostDiskEffects are what becomes of a node whose disk has been gone for some minutes.
func lostDiskEffects(observation *observed.Network) int {
	for i := range observation.Nodes {
		observation.Nodes[i].Outdated, observation.Nodes[i].Status.BlockTimeMs = false, 1000
	}
	observation.Network.Status.Update = nil
	lost := &observation.Nodes[0]
	lost.Status, lost.Pod.Status = nil, corev1.PodStatus{Phase: corev1.PodPending}
	lost.LostDisk = &observed.LostDisk{}
	before := map[string]observed.LostDisk{lost.Validator.Name: {Since: effectsTime.Add(-400 * time.Second), Seen: effectsTime}}
	return len(replacing.NewLostVolumes(observation, before, replacing.NewDisk{}, false).Replace)
}

// underUpdate is a network whose first node is replaced and back, while the others
// run something else than the spec says.
func underUpdate(network *v1alpha1.ShardNetwork, plan *topology.Plan, wanted *v1alpha1.NodeRevision) *observed.Network {
	network = network.DeepCopy()
	hourAgo := metav1.NewTime(effectsTime.Add(-time.Hour))
	network.Status.StableRevision = &v1alpha1.NodeRevision{Name: "before"}
	network.Status.Update = &v1alpha1.UpdateStatus{
		Phase: v1alpha1.UpdateWaves, Revision: wanted.Name, StartTime: hourAgo, ProgressTime: hourAgo, StartHeight: ptr.To[int64](100),
	}
	observation := &observed.Network{Network: network, Plan: plan, Wanted: wanted, Now: effectsTime}
	for i, validator := range plan.Nodes {
		status := &chain.Status{
			Node: validator.Name, GenesisHash: "6f1c", Height: 1201, FinalizedHeight: 1200,
			FinalizedTimeMs: effectsTime.Add(-time.Second).UnixMilli(), Peers: len(plan.Nodes) - 1,
			Copy: &chain.CopyStatus{Complete: true},
		}
		for shard := range plan.Shards {
			status.Shards = append(status.Shards, chain.ShardStatus{Shard: shard, ChunkHeight: 1199})
		}
		observation.Nodes = append(observation.Nodes, observed.Node{
			Validator: validator, Outdated: i > 0, Status: status,
			Pod: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: resources.PodName(validator.Name), CreationTimestamp: hourAgo},
				Status: corev1.PodStatus{
					Phase:      corev1.PodRunning,
					Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo}},
					ContainerStatuses: []corev1.ContainerStatus{{
						State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Started: ptr.To(true),
					}},
				},
			},
		})
	}
	return observation
}
