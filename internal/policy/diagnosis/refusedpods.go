// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// forbiddenSysctl is a pod that its machine refuses, because its kubelet does
// not allow the settings or its kernel does not take them. The pod may be gone
// again: a StatefulSet replaces what was refused.
func forbiddenSysctl(network *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	if network.Spec.TCP.Profile == v1alpha1.TCPProfileNodeDefault {
		return nil
	}
	words := ""
	if node.Pod != nil && node.Pod.Status.Reason == "SysctlForbidden" {
		words = node.Pod.Status.Message
	}
	for _, warning := range node.Warnings {
		if words == "" && machineRefusesSysctl(warning.Words) {
			words = warning.Words
		}
	}
	if words == "" {
		return nil
	}
	return &Diagnosis{v1alpha1.ReasonSysctlForbidden, fmt.Sprintf(
		"the machine refuses a TCP setting of %s: %s. "+
			"Allow the unsafe sysctls net.core.* and net.ipv4.* in its kubelet and bbr in its "+
			"net.ipv4.tcp_allowed_congestion_control, or set spec.tcp.profile to NodeDefault",
		node.Validator.Name, wording.Quote(words))}
}

// machineRefusesSysctl tells a machine's words from those of a policy, which
// keeps a pod from being made at all.
func machineRefusesSysctl(warning string) bool {
	return !strings.HasPrefix(warning, "FailedCreate:") &&
		(strings.Contains(strings.ToLower(warning), "sysctl") || strings.Contains(warning, "sys/net/"))
}

// noPod is a StatefulSet whose pod does not exist.
func noPod(_ *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	if node.Pod != nil {
		return nil
	}
	for _, warning := range node.Warnings {
		if said := warning.Words; strings.Contains(said, "forbidden") || strings.Contains(said, "admission") {
			return &Diagnosis{v1alpha1.ReasonPodForbidden, fmt.Sprintf(
				"the cluster refuses the pod of %s: %s. %s", node.Validator.Name, wording.Quote(said), refusalAdvice(said))}
		}
	}
	if len(node.Warnings) > 0 {
		return &Diagnosis{v1alpha1.ReasonNodesMissing, fmt.Sprintf(
			"%s has no pod: %s", node.Validator.Name, wording.Quote(node.Warnings[0].Words))}
	}
	return &Diagnosis{v1alpha1.ReasonNodesMissing, node.Validator.Name + " has no pod yet"}
}

func refusalAdvice(warning string) string {
	if strings.Contains(warning, "violates PodSecurity") && strings.Contains(warning, "sysctl") {
		return "Label the namespace pod-security.kubernetes.io/enforce=privileged, or set spec.tcp.profile to NodeDefault"
	}
	return "Change the policy or quota that it names, or the spec"
}

// stuck is a pod on a machine that cannot set it up.
func stuck(_ *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	if node.Pod.Status.Phase != corev1.PodPending || len(node.Warnings) == 0 {
		return nil
	}
	return &Diagnosis{v1alpha1.ReasonStuck, fmt.Sprintf(
		"the machine %s cannot set up %s: %s. See kubectl describe pod %s",
		node.Pod.Spec.NodeName, node.Validator.Name, wording.Quote(node.Warnings[0].Words), resources.PodName(node.Validator.Name))}
}
