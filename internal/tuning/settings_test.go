// SPDX-License-Identifier: Apache-2.0

package tuning_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

// everySetting sets all that there is.
var everySetting = v1alpha1.NodeTuningSettings{
	AllowedCongestionControls: []v1alpha1.CongestionControl{"reno", "bbr"},
	CongestionControl:         "bbr",
	DefaultQdisc:              v1alpha1.QdiscFQ,
	InterfaceQdisc:            v1alpha1.QdiscFQCodel,
	NetdevMaxBacklogPackets:   30000,
	RmemMaxBytes:              134217728,
	WmemMaxBytes:              134217727,
	TCPMaxSynBacklog:          8096,
	TCPMetricsSave:            v1alpha1.SwitchDisabled,
	TCPMTUProbing:             v1alpha1.MTUProbingAfterBlackHole,
	TCPRmem:                   &v1alpha1.BufferSizes{MinBytes: 10240, DefaultBytes: 87380, MaxBytes: 134217728},
	TCPSlowStartAfterIdle:     v1alpha1.SwitchDisabled,
	TCPWmem:                   &v1alpha1.BufferSizes{MinBytes: 4096, DefaultBytes: 87380, MaxBytes: 134217728},
}

func TestSettings(t *testing.T) {
	t.Parallel()
	want := []tuning.Setting{
		{"allowedCongestionControls", tuning.KindSysctlSet, "net.ipv4.tcp_allowed_congestion_control", "reno bbr"},
		{"congestionControl", tuning.KindSysctl, "net.ipv4.tcp_congestion_control", "bbr"},
		{"defaultQdisc", tuning.KindSysctl, "net.core.default_qdisc", "fq"},
		{"interfaceQdisc", tuning.KindQdisc, "", "fq_codel"},
		{"netdevMaxBacklogPackets", tuning.KindSysctl, "net.core.netdev_max_backlog", "30000"},
		{"rmemMaxBytes", tuning.KindSysctl, "net.core.rmem_max", "134217728"},
		{"wmemMaxBytes", tuning.KindSysctl, "net.core.wmem_max", "134217727"},
		{"tcpMaxSynBacklog", tuning.KindSysctl, "net.ipv4.tcp_max_syn_backlog", "8096"},
		{"tcpMetricsSave", tuning.KindSysctl, "net.ipv4.tcp_no_metrics_save", "1"},
		{"tcpMTUProbing", tuning.KindSysctl, "net.ipv4.tcp_mtu_probing", "1"},
		{"tcpRmem", tuning.KindSysctl, "net.ipv4.tcp_rmem", "10240 87380 134217728"},
		{"tcpSlowStartAfterIdle", tuning.KindSysctl, "net.ipv4.tcp_slow_start_after_idle", "0"},
		{"tcpWmem", tuning.KindSysctl, "net.ipv4.tcp_wmem", "4096 87380 134217728"},
	}
	got := tuning.Settings(&everySetting)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the settings are\n%v, want\n%v", got, want)
	}
	for i, setting := range got {
		if order := tuning.Order(setting.Name); order != i {
			t.Errorf("%s is number %d, want %d", setting.Name, order, i)
		}
	}
	if got := tuning.Settings(&v1alpha1.NodeTuningSettings{}); len(got) != 0 {
		t.Errorf("nothing comes to %v", got)
	}
}

// A field of the API without a setting would be accepted and not applied.
func TestEveryFieldIsASetting(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[v1alpha1.NodeTuningSettings]()
	values := reflect.ValueOf(everySetting)
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if tuning.Order(name) < 0 {
			t.Errorf("%s is no setting", name)
		}
		if values.Field(i).IsZero() {
			t.Errorf("this test does not set %s", name)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		settings v1alpha1.NodeTuningSettings
		want     string
	}{
		{v1alpha1.NodeTuningSettings{TCPMetricsSave: v1alpha1.SwitchEnabled}, "0"},
		{v1alpha1.NodeTuningSettings{TCPSlowStartAfterIdle: v1alpha1.SwitchEnabled}, "1"},
		{v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingDisabled}, "0"},
		{v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingAlways}, "2"},
	} {
		if got := tuning.Settings(&test.settings); len(got) != 1 || got[0].Value != test.want {
			t.Errorf("%+v comes to %v, want %s", test.settings, got, test.want)
		}
	}
}

func TestDone(t *testing.T) {
	t.Parallel()
	setting := func(state v1alpha1.SettingState) []tuning.SettingReport {
		return []tuning.SettingReport{{Name: "rmemMaxBytes", State: state}}
	}
	for _, test := range []struct {
		report tuning.Report
		want   bool
	}{
		{tuning.Report{}, true},
		{tuning.Report{Held: 1}, false},
		{tuning.Report{Held: 1, Settings: setting(v1alpha1.SettingApplied)}, true},
		{tuning.Report{Held: 1, Settings: setting(v1alpha1.SettingDrifted)}, true},
		{tuning.Report{Held: 1, Settings: setting(v1alpha1.SettingUnavailable)}, false},
		{tuning.Report{Held: 1, Settings: setting(v1alpha1.SettingApplied), Trouble: "not put back"}, false},
	} {
		if got := test.report.Done(); got != test.want {
			t.Errorf("%+v is done: %v, want %v", test.report, got, test.want)
		}
	}
}
