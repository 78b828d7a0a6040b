// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/chain"
)

// readBack is what the kernel of a pod with these settings would use, as far as
// they say.
func readBack(sysctls []corev1.Sysctl) (chain.TCP, error) {
	var tcp chain.TCP
	numbers := map[string]**uint64{
		"net.core.somaxconn":                 &tcp.Somaxconn,
		"net.ipv4.tcp_max_syn_backlog":       &tcp.MaxSynBacklog,
		"net.ipv4.tcp_mtu_probing":           &tcp.MTUProbing,
		"net.ipv4.tcp_no_metrics_save":       &tcp.NoMetricsSave,
		"net.ipv4.tcp_slow_start_after_idle": &tcp.SlowStartAfterIdle,
	}
	triples := map[string]*[]uint64{"net.ipv4.tcp_rmem": &tcp.Rmem, "net.ipv4.tcp_wmem": &tcp.Wmem}
	for _, sysctl := range sysctls {
		if sysctl.Name == "net.ipv4.tcp_congestion_control" {
			tcp.CongestionControl = &sysctl.Value
			continue
		}
		var values []uint64
		for word := range strings.FieldsSeq(sysctl.Value) {
			value, err := strconv.ParseUint(word, 10, 64)
			if err != nil {
				return chain.TCP{}, fmt.Errorf("sysctl %s: %w", sysctl.Name, err)
			}
			values = append(values, value)
		}
		if number, ok := numbers[sysctl.Name]; ok && len(values) == 1 {
			*number = &values[0]
		} else if triple, ok := triples[sysctl.Name]; ok && len(values) == 3 {
			*triple = values
		} else {
			return chain.TCP{}, fmt.Errorf("sysctl %s=%s: no node reports it", sysctl.Name, sysctl.Value)
		}
	}
	return tcp, nil
}
