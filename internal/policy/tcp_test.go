// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

// tune has every node read back what the profile HighThroughput says.
func tune(observation *observed.Network) {
	observation.Network.Spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
	for i := range observation.Nodes {
		observation.Nodes[i].Status.TCP = chain.TCP{
			CongestionControl:  ptr.To("bbr"),
			MaxSynBacklog:      ptr.To[uint64](8096),
			MTUProbing:         ptr.To[uint64](1),
			SlowStartAfterIdle: ptr.To[uint64](0),
			NoMetricsSave:      ptr.To[uint64](1),
			Somaxconn:          ptr.To[uint64](8096),
			Rmem:               []uint64{10240, 87380, 134217728},
			Wmem:               []uint64{4096, 87380, 134217728},
		}
	}
}

func TestTCPTuned(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*observed.Network)
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		"left to the machine": {
			func(*observed.Network) {}, metav1.ConditionTrue, v1alpha1.ReasonNothingToTune, "leaves the settings to the machines",
		},
		"read back": {tune, metav1.ConditionTrue, v1alpha1.ReasonTuned, "all 4 nodes read back net.core.somaxconn=8096, "},
		"another value": {
			func(observation *observed.Network) {
				tune(observation)
				observation.Nodes[3].Status.TCP.Rmem[2] = 6291456
			},
			metav1.ConditionFalse, v1alpha1.ReasonNotTuned,
			"quickstart-s1-p1 reads back net.ipv4.tcp_rmem=10240 87380 6291456, but the profile HighThroughput sets 10240 87380 134217728",
		},
		"not replaced yet": {
			func(observation *observed.Network) {
				tune(observation)
				observation.Nodes[3].Status.TCP.Rmem[2] = 6291456
				observation.Nodes[3].Outdated = true
			},
			metav1.ConditionUnknown, v1alpha1.ReasonUpdating, "1 of 4 nodes are not replaced yet",
		},
		"not readable": {
			func(observation *observed.Network) {
				tune(observation)
				observation.Nodes[0].Status.TCP.CongestionControl = nil
			},
			metav1.ConditionFalse, v1alpha1.ReasonNotTuned, "reads back net.ipv4.tcp_congestion_control=nothing",
		},
		"no answer": {
			func(observation *observed.Network) {
				tune(observation)
				observation.Nodes[0].Status, observation.Nodes[1].Status = nil, nil
			},
			metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "2 of 4 nodes do not answer",
		},
		"no answer for once": {
			func(observation *observed.Network) {
				tune(observation)
				node := &observation.Nodes[0]
				node.LastTCP, node.Status = &node.Status.TCP, nil
			},
			metav1.ConditionTrue, v1alpha1.ReasonTuned, "all 4 nodes read back",
		},
		"no answer for once, and another value": {
			func(observation *observed.Network) {
				tune(observation)
				node := &observation.Nodes[0]
				node.LastTCP, node.Status = &node.Status.TCP, nil
				node.LastTCP.MTUProbing = ptr.To[uint64](0)
			},
			metav1.ConditionFalse, v1alpha1.ReasonNotTuned, "quickstart-s0-p0 reads back net.ipv4.tcp_mtu_probing=0",
		},
		"no answer and another value": {
			func(observation *observed.Network) {
				tune(observation)
				observation.Nodes[0].Status = nil
				observation.Nodes[1].Status.TCP.MTUProbing = ptr.To[uint64](0)
			},
			metav1.ConditionFalse, v1alpha1.ReasonNotTuned, "quickstart-s0-p1 reads back net.ipv4.tcp_mtu_probing=0",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			test.change(observation)
			networks.CheckCondition(t, policy.TCPTuned(observation), test.status, test.reason, test.want)
		})
	}
}
