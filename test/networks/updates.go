// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
)

// Outdate has all nodes but some run something else than the spec says. A node
// that is not outdated and back is one that was replaced.
func Outdate(observation *observed.Network, but ...int) {
	for i := range observation.Nodes {
		observation.Nodes[i].Outdated = !slices.Contains(but, i)
	}
}

// Begun is an update that replaced its first node, and began half an hour ago at
// height 1000.
func Begun(observation *observed.Network) {
	Outdate(observation, 0)
	observation.Network.Status.Update = &v1alpha1.UpdateStatus{
		StartTime: metav1.NewTime(Now.Add(-30 * time.Minute)), StartHeight: ptr.To[int64](1000),
		NodesUpdated: ptr.To[int32](1), NodesBack: ptr.To[int32](1), ProgressTime: metav1.NewTime(Now.Add(-11 * time.Minute)),
	}
}

// Known has a network know what its nodes ran, and what they are to run.
func Known(t *testing.T, observation *observed.Network) {
	t.Helper()
	network := observation.Network
	network.Spec.Node.Log.Level = v1alpha1.LogLevelInfo
	stable, err := replacing.RevisionOf(network, "shardnode:1")
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	wanted, err := replacing.RevisionOf(network, "shardnode:2")
	if err != nil {
		t.Fatal(err)
	}
	network.Status.StableRevision, observation.Wanted = stable, wanted
	if network.Status.Update != nil {
		network.Status.Update.Revision = wanted.Name
	}
}

// Refuse is a network whose spec was rolled back.
func Refuse(t *testing.T, observation *observed.Network) {
	t.Helper()
	Known(t, observation)
	update := observation.Network.Status.Update
	update.Phase = v1alpha1.UpdateRollingBack
	update.Trouble = "quickstart-s0-p0 ends with exit code 2: config.json: features: unknown field `turbo`. " +
		"See kubectl logs --previous quickstart-s0-p0-0"
}

// ScheduledAt is a network whose nodes are to run something else from a height on, and
// do not yet. Its chain has finalised height 1200.
func ScheduledAt(t *testing.T, height int64) *observed.Network {
	t.Helper()
	observation := Healthy(t, 2, 2)
	Known(t, observation)
	observation.Network.Spec.Update.AtHeight = &height
	observation.Network.Status.FinalizedHeight = ptr.To[int64](1200)
	return observation
}
