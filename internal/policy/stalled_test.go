// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

func TestStalled(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	observation.Network.Spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
	networks.NoPod(&observation.Nodes[0], networks.PodSecurity)
	forbidden := diagnosis.NodesReady(observation)
	pulling := networks.Healthy(t, 2, 2)
	networks.Waiting(&pulling.Nodes[0], "ErrImagePull", networks.NoImage)
	missing := away(v1alpha1.ReasonClusterSecretMissing, errors.New("gone"))
	unavailable := away(v1alpha1.ReasonClusterUnavailable, errors.New("EOF"))
	ended := policy.Stopped(mortal(v1alpha1.LifetimeStop), 0, 0)
	alone, refused, paused := networks.Healthy(t, 4, 1), networks.Healthy(t, 2, 2), networks.Healthy(t, 2, 2)
	networks.Outdate(alone)
	networks.Begun(refused)
	networks.Refuse(t, refused)
	networks.Begun(paused)
	networks.KeepsEnding(&paused.Nodes[0])

	stray, inflated := networks.Healthy(t, 2, 2), networks.Healthy(t, 2, 2)
	stray.Nodes[2].Status.GenesisHash = "other"
	for i := range inflated.Nodes {
		inflated.Nodes[i].Status.Supply.Conserved = false
	}

	imaged := networks.Healthy(t, 2, 2).Network
	imaged.Spec.Node.Image = "shardnode:2"
	imaged.Status.NodeImage, imaged.Status.Formats = "shardnode:1", ptr.To[int32](1)
	checking := policy.ChooseImage(imaged, "")
	imaged.Status.ImageCheck = &v1alpha1.ImageCheck{Image: "shardnode:2", Formats: ptr.To[int32](2)}
	other := policy.ChooseImage(imaged, "")

	cases := map[string]struct {
		conditions []metav1.Condition
		settling   bool
		// want is the reason; empty when nothing stalls.
		want string
	}{
		"nothing is known":      {},
		"all is well":           {conditions: []metav1.Condition{policy.GenesisCreated(4), policy.ObjectsApplied(16, 1)}},
		"a key is gone":         {conditions: []metav1.Condition{policy.KeyMissing("a-key")}, want: v1alpha1.ReasonKeyMissing},
		"a name is taken":       {conditions: []metav1.Condition{policy.NameTaken("Service", "a")}, want: v1alpha1.ReasonNameTaken},
		"a predecessor remains": {conditions: []metav1.Condition{policy.PredecessorRemains("Service", "a")}},
		"an object is refused":  {conditions: []metav1.Condition{policy.ApplyFailed(errors.New("timeout"))}},
		"a cluster is away":     {conditions: []metav1.Condition{policy.ClustersAvailable(2, []policy.LostCluster{unavailable}, false)}},
		"an image is pulled":    {conditions: []metav1.Condition{diagnosis.NodesReady(pulling)}},
		"pods are forbidden":    {conditions: []metav1.Condition{forbidden}, want: v1alpha1.ReasonPodForbidden},
		"they were forbidden":   {conditions: []metav1.Condition{forbidden}, settling: true},
		"an image is looked up": {conditions: []metav1.Condition{policy.ImageCompatible(&checking, &policy.Probe{Name: "probe"})}},
		"an image of other formats": {
			conditions: []metav1.Condition{policy.ImageCompatible(&other, &policy.Probe{})}, want: v1alpha1.ReasonFormatsDiffer,
		},
		"an only copy":    {conditions: []metav1.Condition{replacing.NewRollout(alone).Updated}, want: v1alpha1.ReasonOnlyCopy},
		"a refused spec":  {conditions: []metav1.Condition{replacing.NewRollout(refused).Updated}, want: v1alpha1.ReasonRolledBack},
		"another genesis": {conditions: []metav1.Condition{policy.Producing(stray)}, want: v1alpha1.ReasonWrongGenesis},
		"another sum of value": {
			conditions: []metav1.Condition{policy.Producing(inflated)}, want: v1alpha1.ReasonSupplyNotConserved,
		},
		"a paused update":        {conditions: []metav1.Condition{replacing.NewRollout(paused).Updated}},
		"the lifetime has ended": {conditions: append(ended, policy.KeyMissing("a-key"))},
		"the first cause": {
			conditions: []metav1.Condition{
				policy.KeyMissing("a-key"), policy.ClustersAvailable(2, []policy.LostCluster{missing}, false),
			},
			want: v1alpha1.ReasonClusterSecretMissing,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stalled := policy.Stalled(test.conditions, test.settling)
			if stalled == nil || test.want == "" {
				if stalled != nil || test.want != "" {
					t.Errorf("it is stalled by %+v, want %q", stalled, test.want)
				}
				return
			}
			networks.CheckCondition(t, *stalled, metav1.ConditionTrue, test.want, "")
		})
	}
}

// A network that is stalled says in Ready what somebody has to mend, whatever else
// comes first.
func TestReadyWhileStalled(t *testing.T) {
	t.Parallel()
	unavailable := away(v1alpha1.ReasonClusterUnavailable, errors.New("EOF"))
	conditions := []metav1.Condition{
		policy.ClustersAvailable(2, []policy.LostCluster{unavailable}, false), policy.NameTaken("Service", "a"),
	}
	conditions = append(conditions, *policy.Stalled(conditions, false))
	networks.CheckCondition(t, policy.Ready(conditions, 0), metav1.ConditionFalse, v1alpha1.ReasonNameTaken,
		"the Service a belongs to somebody else")
}
