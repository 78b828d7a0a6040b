// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

// TCPTuned says whether every node reads back the settings of its network's
// TCP profile. It is Unknown while a node that would tell does not answer.
func TCPTuned(observation *observed.Network) metav1.Condition {
	wanted := resources.Sysctls(observation.Network.Spec.TCP.Profile)
	if len(wanted) == 0 {
		return condition.New(v1alpha1.ConditionTCPTuned, metav1.ConditionTrue, v1alpha1.ReasonNothingToTune,
			"the profile NodeDefault leaves the settings to the machines")
	}
	silent, outdated := 0, 0
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if node.Outdated {
			outdated++
			continue
		}
		tcp := tcpOf(node)
		if tcp == nil {
			silent++
			continue
		}
		effective := readBack(tcp)
		for _, sysctl := range wanted {
			if got := effective[sysctl.Name]; got != sysctl.Value {
				return condition.New(v1alpha1.ConditionTCPTuned, metav1.ConditionFalse, v1alpha1.ReasonNotTuned, fmt.Sprintf(
					"%s reads back %s=%s, but the profile %s sets %s: see what else sets it on its machine",
					node.Validator.Name, sysctl.Name, orNothing(got), observation.Network.Spec.TCP.Profile, sysctl.Value))
			}
		}
	}
	if outdated > 0 {
		return condition.New(v1alpha1.ConditionTCPTuned, metav1.ConditionUnknown, v1alpha1.ReasonUpdating,
			fmt.Sprintf("%d of %d nodes are not replaced yet", outdated, len(observation.Nodes)))
	}
	if silent > 0 {
		return condition.New(v1alpha1.ConditionTCPTuned, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer,
			fmt.Sprintf("%d of %d nodes do not answer", silent, len(observation.Nodes)))
	}
	settings := make([]string, 0, len(wanted))
	for _, sysctl := range wanted {
		settings = append(settings, sysctl.Name+"="+sysctl.Value)
	}
	return condition.New(v1alpha1.ConditionTCPTuned, metav1.ConditionTrue, v1alpha1.ReasonTuned,
		fmt.Sprintf("all %d nodes read back %s", len(observation.Nodes), strings.Join(settings, ", ")))
}

// tcpOf is what the node read back. The settings are those of its pod: one that does not
// answer for once has no others.
func tcpOf(node *observed.Node) *chain.TCP {
	if node.Status != nil {
		return &node.Status.TCP
	}
	return node.LastTCP
}

// readBack is what a node's kernel uses, by sysctl.
func readBack(tcp *chain.TCP) map[string]string {
	effective := map[string]string{}
	if tcp.CongestionControl != nil {
		effective["net.ipv4.tcp_congestion_control"] = *tcp.CongestionControl
	}
	for name, value := range map[string]*uint64{
		"net.core.somaxconn":                 tcp.Somaxconn,
		"net.ipv4.tcp_max_syn_backlog":       tcp.MaxSynBacklog,
		"net.ipv4.tcp_mtu_probing":           tcp.MTUProbing,
		"net.ipv4.tcp_no_metrics_save":       tcp.NoMetricsSave,
		"net.ipv4.tcp_slow_start_after_idle": tcp.SlowStartAfterIdle,
	} {
		if value != nil {
			effective[name] = strconv.FormatUint(*value, 10)
		}
	}
	for name, values := range map[string][]uint64{"net.ipv4.tcp_rmem": tcp.Rmem, "net.ipv4.tcp_wmem": tcp.Wmem} {
		words := make([]string, 0, len(values))
		for _, value := range values {
			words = append(words, strconv.FormatUint(value, 10))
		}
		effective[name] = strings.Join(words, " ")
	}
	return effective
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
