// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

func TestUpdateWaitsForItsHeight(t *testing.T) {
	t.Parallel()
	const waits = "the change of spec.node.image, spec.node.log.level waits until the chain has finalised height "
	cases := map[string]struct {
		at     int64
		change func(*observed.Network)
		want   []int
		reason string
		// message is a part of the condition's.
		message string
		// begun is true where there is an update.
		begun bool
	}{
		"below": {at: 1201, reason: v1alpha1.ReasonAwaitingHeight, message: waits + "1201, as spec.update.atHeight says"},
		"below, and nodes differ": {
			at: 1201, change: func(o *observed.Network) { networks.Outdate(o) }, reason: v1alpha1.ReasonAwaitingHeight, message: waits,
		},
		"below, and one does not run": {
			at:     1201,
			change: func(o *observed.Network) { networks.Outdate(o); networks.Pending(&o.Nodes[3]) },
			reason: v1alpha1.ReasonAwaitingHeight, message: waits,
		},
		"below, of what no spec asks": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o, 0)
				o.Network.Status.StableRevision = o.Wanted
			},
			reason: v1alpha1.ReasonAwaitingHeight, message: "the replacement of 3 of 4 nodes waits until",
		},
		"below, of a network that was not complete yet": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o)
				o.Network.Status.StableRevision = nil
			},
			reason: v1alpha1.ReasonAwaitingHeight,
			message: "4 of 4 nodes run something else than the spec says. The network was not complete yet, so those that do not run come " +
				"back as the spec says; the others are replaced once the chain has finalised height 1201, as spec.update.atHeight says",
		},
		"below, of a network that was not complete yet, one of whose nodes does not run": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o)
				networks.Pending(&o.Nodes[3])
				o.Network.Status.StableRevision = nil
			},
			want: []int{3}, reason: v1alpha1.ReasonAwaitingHeight,
		},
		"below, of a network that was not complete yet, whose nodes do not run and may hold the only copy": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o)
				networks.All(o, networks.Ended)
				o.Network.Status.StableRevision = nil
			},
			reason: v1alpha1.ReasonAwaitingHeight,
		},
		"below, while another update is under way": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o)
				o.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateWaves, Revision: "another"}
			},
			reason: v1alpha1.ReasonAwaitingHeight, message: waits,
		},
		"below, and begun": {
			at: 1201,
			change: func(o *observed.Network) {
				networks.Outdate(o)
				o.Network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateWaves, Revision: o.Wanted.Name}
			},
			want: []int{0}, reason: v1alpha1.ReasonUpdating, begun: true,
		},
		"below, and nothing to do": {
			at:     1201,
			change: func(o *observed.Network) { o.Network.Status.StableRevision = o.Wanted },
			reason: v1alpha1.ReasonUpToDate,
		},
		"nobody tells the height": {
			at: 1200,
			change: func(o *observed.Network) {
				o.Network.Status.FinalizedHeight = nil
				networks.All(o, func(node *observed.Node) { node.Status = nil })
			},
			reason: v1alpha1.ReasonAwaitingHeight, message: waits,
		},
		"nobody tells the height, which was reached before": {
			at: 1200,
			change: func(o *observed.Network) {
				o.Network.Status.FinalizedHeight, o.Network.Status.HighestFinalizedHeight = nil, ptr.To[int64](1200)
				networks.Outdate(o)
				networks.Durable(o)
				networks.All(o, networks.Ended)
			},
			want: []int{0, 1, 2, 3}, reason: v1alpha1.ReasonUpdating, begun: true,
		},
		"those who tell the height are behind": {
			at: 1210,
			change: func(o *observed.Network) {
				o.Network.Status.HighestFinalizedHeight = ptr.To[int64](1210)
				networks.Outdate(o)
			},
			want: []int{0}, reason: v1alpha1.ReasonUpdating, begun: true,
		},
		"reached just now": {
			at:     1200,
			change: func(o *observed.Network) { o.Network.Status.FinalizedHeight = ptr.To[int64](1190) },
			reason: v1alpha1.ReasonUpdating, message: "begins: the chain has finalised height 1200", begun: true,
		},
		"reached": {
			at: 1200, change: func(o *observed.Network) { networks.Outdate(o) },
			want: []int{0}, reason: v1alpha1.ReasonUpdating, begun: true,
		},
		"passed long ago": {
			at: 1, change: func(o *observed.Network) { networks.Outdate(o) },
			want: []int{0}, reason: v1alpha1.ReasonUpdating, begun: true,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.ScheduledAt(t, test.at)
			if test.change != nil {
				test.change(observation)
			}
			rollout := replacing.NewRollout(observation)
			status := metav1.ConditionFalse
			if test.reason == v1alpha1.ReasonUpToDate {
				status = metav1.ConditionTrue
			}
			networks.CheckCondition(t, rollout.Updated, status, test.reason, test.message)
			if !slices.Equal(rollout.Replace, test.want) {
				t.Errorf("%v are replaced, want %v", rollout.Replace, test.want)
			}
			if rollout.Complete != (test.reason == v1alpha1.ReasonUpToDate) || (rollout.Update != nil) != test.begun {
				t.Errorf("the update is %+v, complete: %v", rollout.Update, rollout.Complete)
			}
		})
	}
}

// What the spec asks is applied from the height on, and once it was it stays: also
// while nobody tells how high the chain is.
func TestNodesStayAsTheyAreUntilTheHeight(t *testing.T) {
	t.Parallel()
	observation := networks.ScheduledAt(t, 1201)
	network, wanted := observation.Network, observation.Wanted
	isAsBefore := func() bool { return replacing.Effective(network, wanted) != network }
	if !isAsBefore() {
		t.Error("the height is not reached, and what the spec asks is applied")
	}

	network.Spec.Update.AtHeight = ptr.To[int64](1200)
	network.Status.FinalizedHeight = ptr.To[int64](1190)
	rollout := replacing.NewRollout(observation)
	if rollout.Update == nil || rollout.Update.Revision != wanted.Name || *rollout.Update.StartHeight != 1200 {
		t.Fatalf("the update is %+v, want one from height 1200 on", rollout.Update)
	}
	network.Status.Update, network.Status.FinalizedHeight = rollout.Update, nil
	if isAsBefore() {
		t.Error("the update has begun, and what the spec asks is not applied")
	}
}
