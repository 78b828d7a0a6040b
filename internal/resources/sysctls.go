// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// highThroughput are the settings of the profile HighThroughput, those of its
// sources that a pod can have: congestion control, SYN backlog and MTU probing
// of the published run of a million transfers per second, buffers and the rest
// of the scripts that its machines were set up with. rmem_max, wmem_max, the
// device backlog and the queueing discipline belong to the machine: a pod that
// asks for them never starts.
var highThroughput = []corev1.Sysctl{
	{Name: "net.core.somaxconn", Value: "8096"},
	{Name: "net.ipv4.tcp_congestion_control", Value: "bbr"},
	{Name: "net.ipv4.tcp_max_syn_backlog", Value: "8096"},
	{Name: "net.ipv4.tcp_mtu_probing", Value: "1"},
	{Name: "net.ipv4.tcp_no_metrics_save", Value: "1"},
	{Name: "net.ipv4.tcp_rmem", Value: "10240 87380 134217728"},
	{Name: "net.ipv4.tcp_slow_start_after_idle", Value: "0"},
	{Name: "net.ipv4.tcp_wmem", Value: "4096 87380 134217728"},
}

// Sysctls are the settings that a TCP profile gives a pod, by name.
func Sysctls(profile v1alpha1.TCPProfile) []corev1.Sysctl {
	if profile != v1alpha1.TCPProfileHighThroughput {
		return nil
	}
	return highThroughput
}
