// SPDX-License-Identifier: Apache-2.0

package tuning

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Kind is where a value of the machine is kept.
type Kind string

// The kinds of values.
const (
	// KindSysctl is a kernel parameter of /proc/sys.
	KindSysctl Kind = "sysctl"
	// KindSysctlSet is one whose value is a set of words in any order.
	KindSysctlSet Kind = "sysctlSet"
	// KindQdisc is the queueing discipline of the interfaces of the default
	// routes.
	KindQdisc Kind = "qdisc"
)

// Setting is a setting of a NodeTuning as a machine has it.
type Setting struct {
	// Name is the field of spec.settings.
	Name string
	Kind Kind
	// Parameter is the name of a sysctl; empty for other kinds, of which a
	// machine may have several.
	Parameter string
	// Value is what is wanted, in the kernel's terms.
	Value string
}

// Settings are those that a spec sets, in the order of Order.
func Settings(spec *v1alpha1.NodeTuningSettings) []Setting {
	var set []Setting
	for _, setting := range all(spec) {
		if setting.Value != "" {
			set = append(set, setting)
		}
	}
	return set
}

// Order is the place of a setting among all: settings are set and put back one
// after the other.
func Order(name string) int {
	return slices.IndexFunc(all(&v1alpha1.NodeTuningSettings{}), func(setting Setting) bool { return setting.Name == name })
}

// all are all settings; those that a spec leaves out have no value. A setting
// that decides what another comes to is before it: interfaces begin with the
// default queueing discipline, and only what is allowed may be chosen.
func all(spec *v1alpha1.NodeTuningSettings) []Setting {
	allowed := make([]string, 0, len(spec.AllowedCongestionControls))
	for _, control := range spec.AllowedCongestionControls {
		allowed = append(allowed, string(control))
	}
	return []Setting{
		{"allowedCongestionControls", KindSysctlSet, "net.ipv4.tcp_allowed_congestion_control", strings.Join(allowed, " ")},
		{"congestionControl", KindSysctl, "net.ipv4.tcp_congestion_control", string(spec.CongestionControl)},
		{"defaultQdisc", KindSysctl, "net.core.default_qdisc", string(spec.DefaultQdisc)},
		{"interfaceQdisc", KindQdisc, "", string(spec.InterfaceQdisc)},
		{"netdevMaxBacklogPackets", KindSysctl, "net.core.netdev_max_backlog", number(spec.NetdevMaxBacklogPackets)},
		{"rmemMaxBytes", KindSysctl, "net.core.rmem_max", number(spec.RmemMaxBytes)},
		{"wmemMaxBytes", KindSysctl, "net.core.wmem_max", number(spec.WmemMaxBytes)},
		{"tcpMaxSynBacklog", KindSysctl, "net.ipv4.tcp_max_syn_backlog", number(spec.TCPMaxSynBacklog)},
		// The kernel's parameter says the opposite: no metrics are saved.
		{"tcpMetricsSave", KindSysctl, "net.ipv4.tcp_no_metrics_save", position(spec.TCPMetricsSave, "0", "1")},
		{"tcpMTUProbing", KindSysctl, "net.ipv4.tcp_mtu_probing", probing(spec.TCPMTUProbing)},
		{"tcpRmem", KindSysctl, "net.ipv4.tcp_rmem", sizes(spec.TCPRmem)},
		{"tcpSlowStartAfterIdle", KindSysctl, "net.ipv4.tcp_slow_start_after_idle", position(spec.TCPSlowStartAfterIdle, "1", "0")},
		{"tcpWmem", KindSysctl, "net.ipv4.tcp_wmem", sizes(spec.TCPWmem)},
	}
}

// number is the kernel's form of a number; empty for 0, which no setting is.
func number(value int32) string {
	if value == 0 {
		return ""
	}
	return strconv.Itoa(int(value))
}

func position(value v1alpha1.Switch, enabled, disabled string) string {
	switch value {
	case v1alpha1.SwitchEnabled:
		return enabled
	case v1alpha1.SwitchDisabled:
		return disabled
	default:
		return ""
	}
}

func probing(value v1alpha1.MTUProbing) string {
	return map[v1alpha1.MTUProbing]string{
		v1alpha1.MTUProbingDisabled:       "0",
		v1alpha1.MTUProbingAfterBlackHole: "1",
		v1alpha1.MTUProbingAlways:         "2",
	}[value]
}

func sizes(value *v1alpha1.BufferSizes) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("%d %d %d", value.MinBytes, value.DefaultBytes, value.MaxBytes)
}

// NoSettings is the encoded form of no settings at all.
const NoSettings = "{}"

// Encode is the form in which an agent gets its settings.
func Encode(settings *v1alpha1.NodeTuningSettings) (string, error) {
	content, err := json.Marshal(settings)
	if err != nil {
		return "", fmt.Errorf("encode settings: %w", err)
	}
	return string(content), nil
}

// Hash tells encoded settings from others.
func Hash(encoded string) string {
	sum := sha256.Sum256([]byte(encoded))
	return hex.EncodeToString(sum[:8])
}
