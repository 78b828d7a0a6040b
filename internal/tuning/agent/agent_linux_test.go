// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

// takes are settings that every network namespace takes.
func takes() *v1alpha1.NodeTuningSettings {
	return &v1alpha1.NodeTuningSettings{
		InterfaceQdisc:        v1alpha1.QdiscPFIFOFast,
		TCPMaxSynBacklog:      8096,
		TCPMetricsSave:        v1alpha1.SwitchDisabled,
		TCPMTUProbing:         v1alpha1.MTUProbingAfterBlackHole,
		TCPRmem:               &v1alpha1.BufferSizes{MinBytes: 10240, DefaultBytes: 87380, MaxBytes: 134217728},
		TCPSlowStartAfterIdle: v1alpha1.SwitchDisabled,
		TCPWmem:               &v1alpha1.BufferSizes{MinBytes: 4096, DefaultBytes: 87380, MaxBytes: 134217728},
	}
}

// nothing is what an agent is told that only puts back.
func nothing() *v1alpha1.NodeTuningSettings { return &v1alpha1.NodeTuningSettings{} }

func TestSetAndPutBack(t *testing.T) {
	h := newHost(t)
	before := h.values()

	report := h.round(h.start(takes()))
	for name, state := range states(report) {
		if state != v1alpha1.SettingApplied {
			t.Errorf("%s is %s: %s", name, state, message(report, name))
		}
	}
	if !report.Done() || report.Held != len(report.Settings) {
		t.Errorf("done is %v with %d of %d values to put back", report.Done(), report.Held, len(report.Settings))
	}
	got := h.values()
	if want := map[string]string{
		"qdisc":                          "pfifo_fast",
		"ipv4/tcp_max_syn_backlog":       "8096",
		"ipv4/tcp_mtu_probing":           "1",
		"ipv4/tcp_no_metrics_save":       "1",
		"ipv4/tcp_rmem":                  "10240 87380 134217728",
		"ipv4/tcp_slow_start_after_idle": "0",
		"ipv4/tcp_wmem":                  "4096 87380 134217728",
	}; !maps.Equal(got, want) {
		t.Errorf("the kernel says %v, want %v", got, want)
	}

	// The agent before was killed; this one only puts back.
	report = h.round(h.start(nothing()))
	if !report.Done() || report.Held != 0 {
		t.Errorf("after putting back, done is %v with %d values left: %s", report.Done(), report.Held, report.Trouble)
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// A namespace that is not the machine's first lacks what only the machine has,
// and no kernel has a discipline of this name.
func TestTheKernelsWords(t *testing.T) {
	h := newHost(t)
	before := h.values()
	settings := &v1alpha1.NodeTuningSettings{
		DefaultQdisc: v1alpha1.QdiscPFIFOFast, InterfaceQdisc: "nonesuch", NetdevMaxBacklogPackets: 30000, RmemMaxBytes: 134217728,
	}
	report := h.round(h.start(settings))
	for name, want := range map[string]string{
		"defaultQdisc":            "net.core.default_qdisc: no such file or directory",
		"interfaceQdisc":          "of uplink to nonesuch: no such file or directory: Specified qdisc kind is unknown",
		"netdevMaxBacklogPackets": "net.core.netdev_max_backlog: no such file or directory",
		"rmemMaxBytes":            "net.core.rmem_max: ",
	} {
		if state := states(report)[name]; state != v1alpha1.SettingUnavailable {
			t.Errorf("%s is %q, want %s", name, state, v1alpha1.SettingUnavailable)
		}
		if got := message(report, name); !strings.Contains(got, want) {
			t.Errorf("of %s the report says %q, want %q", name, got, want)
		}
	}
	if report.Done() || report.Held != 0 {
		t.Errorf("done is %v with %d values to put back, want false with none", report.Done(), report.Held)
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

func TestNoDefaultRoute(t *testing.T) {
	h := newHost(t)
	h.must(netlink.RouteDel(h.route()))
	report := h.round(h.start(takes()))
	const name = "interfaceQdisc"
	if got := message(report, name); got != errNoDefaultRoute.Error() || states(report)[name] != v1alpha1.SettingUnavailable {
		t.Errorf("%s is %s: %s", name, states(report)[name], got)
	}
	if states(report)["tcpMTUProbing"] != v1alpha1.SettingApplied {
		t.Errorf("a setting that needs no route is %v", states(report))
	}
}

func TestDrift(t *testing.T) {
	h := newHost(t)
	before := h.values()
	agent := h.start(takes())
	h.round(agent)
	tuned := h.values()

	h.setSysctl("ipv4/tcp_mtu_probing", "2")
	h.must(interfaceQdisc{uplink}.restore(""))
	report := h.round(agent)
	for name, want := range map[string]string{
		"tcpMTUProbing": "net.ipv4.tcp_mtu_probing was 2 at 2026-11-21T12:00:00Z and was put back to 1; " +
			"it was changed once since the agent started",
		"interfaceQdisc": "the queueing discipline of uplink was noqueue at ",
	} {
		if state := states(report)[name]; state != v1alpha1.SettingDrifted {
			t.Errorf("%s is %q, want %s", name, state, v1alpha1.SettingDrifted)
		}
		if got := message(report, name); !strings.HasPrefix(got, want) {
			t.Errorf("of %s the report says %q, want %q", name, got, want)
		}
	}
	if state := states(report)["tcpWmem"]; state != v1alpha1.SettingApplied {
		t.Errorf("what nobody changed is %s", state)
	}
	if now := h.values(); !maps.Equal(now, tuned) {
		t.Errorf("the values are %v, want %v again", now, tuned)
	}
	if !report.Done() {
		t.Error("the machine is as it should be, and the report says that it is not")
	}

	// Whoever looks now and then sees it, for a while.
	h.clock = h.clock.Add(driftMemory - time.Second)
	h.setSysctl("ipv4/tcp_mtu_probing", "0")
	if got := message(h.round(agent), "tcpMTUProbing"); !strings.HasSuffix(got, "changed 2 times since the agent started") {
		t.Errorf("the report says %q", got)
	}
	h.clock = h.clock.Add(time.Second)
	report = h.round(agent)
	if got := states(report); got["interfaceQdisc"] != v1alpha1.SettingApplied || got["tcpMTUProbing"] != v1alpha1.SettingDrifted {
		t.Errorf("after a while the states are %v", got)
	}

	h.round(h.start(nothing()))
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before the first change", after, before)
	}
}

// Whenever an agent is killed, the next one puts the first values back: an old
// value is noted before it is changed, and never noted twice.
func TestKilledAnywhere(t *testing.T) {
	h := newHost(t)
	before := h.values()

	// Killed between the note and the change.
	agent := h.start(takes())
	h.must(agent.journal.add(note{
		identity{"tcpMTUProbing", tuning.KindSysctl, "net.ipv4.tcp_mtu_probing"}, before["ipv4/tcp_mtu_probing"], theTuning,
	}))
	// Killed after half of the changes, and told something else then.
	h.round(h.start(&v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingAlways, InterfaceQdisc: v1alpha1.QdiscHTB}))
	if got := h.values(); got["ipv4/tcp_mtu_probing"] != "2" || got["qdisc"] != "htb" {
		t.Fatalf("the values are %v", got)
	}
	h.round(h.start(takes()))
	// Killed while it put values back: the rest is still noted.
	agent = h.start(nothing())
	h.must(agent.restore(agent.journal.inOrder()[0]))

	report := h.round(h.start(nothing()))
	if !report.Done() || report.Held != 0 {
		t.Errorf("done is %v with %d values left: %s", report.Done(), report.Held, report.Trouble)
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// What the spec no longer sets is put back while the rest stays.
func TestFewerSettings(t *testing.T) {
	h := newHost(t)
	before := h.values()
	h.round(h.start(takes()))
	report := h.round(h.start(&v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingAfterBlackHole}))
	if report.Held != 1 || len(report.Settings) != 1 {
		t.Errorf("the report has %d settings and %d values to put back, want 1 of each", len(report.Settings), report.Held)
	}
	want := maps.Clone(before)
	want["ipv4/tcp_mtu_probing"] = "1"
	if now := h.values(); !maps.Equal(now, want) {
		t.Errorf("the values are %v, want %v", now, want)
	}
}

// What cannot be noted is not changed: nobody could put it back.
func TestNothingIsChangedWithoutANote(t *testing.T) {
	h := newHost(t)
	before := h.values()
	agent := h.start(takes())
	agent.journal.path = filepath.Join(h.state, "absent", journalFile)
	report := h.round(agent)
	for name, state := range states(report) {
		if state != v1alpha1.SettingUnavailable || !strings.Contains(message(report, name), "stays as it is: write journal") {
			t.Errorf("%s is %s: %s", name, state, message(report, name))
		}
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// A queueing discipline that somebody configured could not be put back.
func TestSomebodysQdiscStays(t *testing.T) {
	h := newHost(t)
	h.must(netlink.QdiscReplace(newQdisc(h.link(uplink), netlink.HANDLE_ROOT, "htb")))
	agent := h.start(takes())
	report := h.round(agent)
	if got, want := message(report, "interfaceQdisc"), "uplink has a queueing discipline that somebody else set up, htb: "+
		"it stays until it is deleted (tc qdisc delete dev uplink root)"; got != want {
		t.Errorf("the report says %q, want %q", got, want)
	}
	if kind := h.qdisc(uplink); kind != "htb" {
		t.Errorf("the discipline is %s, want htb as before", kind)
	}

	h.must(interfaceQdisc{uplink}.restore(""))
	if state := states(h.round(agent))["interfaceQdisc"]; state != v1alpha1.SettingApplied {
		t.Errorf("once it is deleted, the setting is %s", state)
	}
}

// An interface with several transmit queues keeps one discipline for each.
func TestSeveralQueues(t *testing.T) {
	h := newHost(t)
	const name, queues = "many", 3
	many := &netlink.Tuntap{
		LinkAttrs: netlink.LinkAttrs{Name: name}, Mode: netlink.TUNTAP_MODE_TAP, Queues: queues, NonPersist: true,
		Flags: netlink.TUNTAP_MULTI_QUEUE_DEFAULTS,
	}
	if err := netlink.LinkAdd(many); err != nil {
		t.Skipf("this kernel makes no interface with several transmit queues: %v", err)
	}
	defer func() {
		for _, file := range many.Fds {
			_ = file.Close()
		}
	}()
	h.must(netlink.LinkSetUp(h.link(name)))
	h.must(netlink.RouteDel(h.route()))
	everywhere := &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
	h.must(netlink.RouteAdd(&netlink.Route{LinkIndex: h.link(name).Attrs().Index, Scope: netlink.SCOPE_LINK, Dst: everywhere}))
	tree := func() *tree {
		t.Helper()
		tree, err := interfaceQdisc{name}.tree()
		h.must(err)
		return tree
	}
	before := tree()
	if before.root.Type() != kindMQ || before.configured() {
		t.Fatalf("the interface begins with %+v, want the kernel's own mq", before.root)
	}

	report := h.round(h.start(&v1alpha1.NodeTuningSettings{InterfaceQdisc: v1alpha1.QdiscHTB}))
	if states(report)["interfaceQdisc"] != v1alpha1.SettingApplied {
		t.Errorf("the report is %+v", report.Settings)
	}
	tuned := tree()
	if tuned.root.Type() != kindMQ || tuned.kind() != "htb" || len(tuned.leaves) < queues {
		t.Errorf("the interface has %s with %d of %s", tuned.root.Type(), len(tuned.leaves), tuned.kind())
	}

	report = h.round(h.start(&v1alpha1.NodeTuningSettings{}))
	if now := tree(); !report.Done() || now.configured() || now.kind() != before.kind() {
		t.Errorf("the interface has %s of %s, want %s as before: %s", now.root.Type(), now.kind(), before.kind(), report.Trouble)
	}
	h.round(h.start(&v1alpha1.NodeTuningSettings{InterfaceQdisc: "nonesuch"}))
	if now := tree(); now.configured() || now.kind() != before.kind() {
		t.Errorf("after a failure the interface has %s of %s, want %s as before", now.root.Type(), now.kind(), before.kind())
	}
}

// What is gone needs not be put back.
func TestInterfacesAndRoutesGo(t *testing.T) {
	h := newHost(t)
	h.round(h.start(takes()))
	h.must(netlink.LinkDel(h.link(uplink)))
	report := h.round(h.start(nothing()))
	if !report.Done() || report.Held != 0 {
		t.Errorf("done is %v with %d values left: %s", report.Done(), report.Held, report.Trouble)
	}
}

// Of an agent that cannot put a value back, everybody knows.
func TestTroublePuttingBack(t *testing.T) {
	h := newHost(t)
	agent := h.start(nothing())
	h.must(agent.journal.add(note{identity{"rmemMaxBytes", tuning.KindSysctl, "net.ipv4.tcp_mtu_probing"}, "many", theTuning}))
	report := h.round(agent)
	if want := "put net.ipv4.tcp_mtu_probing back to many: set net.ipv4.tcp_mtu_probing: invalid argument"; report.Trouble != want {
		t.Errorf("the trouble is %q, want %q", report.Trouble, want)
	}
	if report.Done() || report.Held != 1 {
		t.Errorf("done is %v with %d values left, want false with 1", report.Done(), report.Held)
	}
}

// Run serves what it finds, and leaves the machine as it is when it is told to
// stop: the next agent finds everything set, and nobody who looked meanwhile saw
// an old value.
func TestRun(t *testing.T) {
	// Of the namespace that the clients are in.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	before := h.values()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		defer cancel()
		asked <- ask(t.Context(), listener.Addr().(*net.TCPAddr))
	}()
	agent := h.start(takes())
	if err := agent.Run(ctx, listener); err != nil {
		t.Error(err)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if now, want := h.values(), setTo(before, takes()); !maps.Equal(now, want) {
		t.Errorf("after the agent the values are %v, want %v", now, want)
	}
	next := h.start(takes())
	if next.first() {
		t.Error("the next agent waits, as if nobody knew of this machine")
	}
	if report := h.round(next); !report.Done() || report.Held != len(report.Settings) {
		t.Errorf("with the next agent done is %v with %d values to put back", report.Done(), report.Held)
	}
	if report := h.round(h.start(nothing())); !report.Done() || report.Held != 0 {
		t.Errorf("after putting back, done is %v with %d values left: %s", report.Done(), report.Held, report.Trouble)
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// Nothing is changed on a machine before somebody, who noted it, has asked.
func TestTheFirstAgentWaitsToBeAsked(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	before := h.values()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Told to stop before anybody has asked.
	if err := h.start(takes()).Run(ctx, listener); err != nil {
		t.Error(err)
	}
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}

	// One without settings has nothing to wait for.
	if h.start(nothing()).first() {
		t.Error("an agent that only puts back waits to be asked")
	}
	// What another NodeTuning left was noted by those who look after that one.
	h.round(h.startFor("other", takes()))
	if !h.start(takes()).first() {
		t.Error("an agent does not wait where another NodeTuning was")
	}
}

// Of two NodeTunings that had a machine one after the other, the second one puts
// back what it does not set, and the values from before both in the end.
func TestAnotherTuningTakesOver(t *testing.T) {
	h := newHost(t)
	before := h.values()
	h.round(h.startFor("other", &v1alpha1.NodeTuningSettings{
		TCPMTUProbing: v1alpha1.MTUProbingAlways, TCPSlowStartAfterIdle: v1alpha1.SwitchDisabled,
	}))
	own := &v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingAfterBlackHole}
	report := h.round(h.start(own))
	if want := setTo(before, own); !report.Done() || report.Held != 1 || !maps.Equal(h.values(), want) {
		t.Errorf("with %d values to put back the machine has %v, want 1 and %v", report.Held, h.values(), want)
	}

	// Whoever comes late to put the first one's values back finds none of them.
	late := h.round(h.startFor("other", nothing()))
	if want := setTo(before, own); !late.Done() || late.Held != 0 || !maps.Equal(h.values(), want) {
		t.Errorf("done is %v and the machine has %v, want %v", late.Done(), h.values(), want)
	}
	h.round(h.start(nothing()))
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// What an agent noted that kept no record of whom it worked for is anybody's.
func TestANoteOfNobody(t *testing.T) {
	h := newHost(t)
	before := h.values()
	agent := h.start(takes())
	h.must(agent.journal.add(note{
		identity{"tcpMTUProbing", tuning.KindSysctl, "net.ipv4.tcp_mtu_probing"}, before["ipv4/tcp_mtu_probing"], "",
	}))
	h.setSysctl("ipv4/tcp_mtu_probing", "1")
	if h.start(takes()).first() {
		t.Error("the next agent waits, as if nobody had changed the machine")
	}
	h.round(h.start(nothing()))
	if after := h.values(); !maps.Equal(after, before) {
		t.Errorf("the values are %v, want %v as before", after, before)
	}
}

// setTo are values with the settings set.
func setTo(values map[string]string, settings *v1alpha1.NodeTuningSettings) map[string]string {
	set := maps.Clone(values)
	for _, setting := range tuning.Settings(settings) {
		switch setting.Kind {
		case tuning.KindQdisc:
			set["qdisc"] = setting.Value
		default:
			set[strings.ReplaceAll(strings.TrimPrefix(setting.Parameter, sysctlPrefix), ".", "/")] = setting.Value
		}
	}
	return set
}

// ask waits until an agent is ready and compares its report.
func ask(ctx context.Context, address *net.TCPAddr) error {
	client := tuning.NewClient(address.Port)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for ; ; <-ticker.C {
		report, err := client.Report(ctx, address.IP.String())
		if ctx.Err() != nil {
			return fmt.Errorf("no report: %w", err)
		}
		if err != nil || !report.Done() {
			continue
		}
		if report.Tuning != theTuning || report.Machine != "machine-1" || report.SettingsHash != "hash" || len(report.Settings) != 7 {
			return fmt.Errorf("the report is %+v", report)
		}
		return nil
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	agent := &Agent{asked: newAsked()}
	check := func(path string, status int) string {
		t.Helper()
		recorder := httptest.NewRecorder()
		agent.handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if recorder.Code != status {
			t.Errorf("GET %s answers %d, want %d", path, recorder.Code, status)
		}
		return recorder.Body.String()
	}
	check(tuning.PathHealth, http.StatusOK)
	check(tuning.PathReady, http.StatusServiceUnavailable)
	check(tuning.PathReport, http.StatusServiceUnavailable)

	want := &tuning.Report{Tuning: theTuning, Settings: []tuning.SettingReport{{Name: "rmemMaxBytes", State: v1alpha1.SettingUnavailable}}}
	agent.latest.report = want
	check(tuning.PathReady, http.StatusServiceUnavailable)
	var got tuning.Report
	if err := json.Unmarshal([]byte(check(tuning.PathReport, http.StatusOK)), &got); err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("the report is %+v, want %+v: %v", got, want, err)
	}
	want.Settings[0].State = v1alpha1.SettingApplied
	check(tuning.PathReady, http.StatusOK)
}

func TestABrokenJournalIsSaidAndKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, journalFile)
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(&Options{StateFolder: folder}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v, want one about %s", err, path)
	}
}

func TestOnlySysctlsOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kernel.panic", "net", "net./etc/passwd"} {
		if value, err := newSysctl(t.TempDir(), name); err == nil {
			t.Errorf("%q is %s", name, value.path)
		}
	}
}
