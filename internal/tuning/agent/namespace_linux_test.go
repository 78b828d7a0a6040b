// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	// uplink is the interface of the default route.
	uplink = "uplink"
	// theTuning is the NodeTuning that agents work for, if not another one.
	theTuning = "test"

	sysctlFolder = "/proc/sys/net"
)

// host is a machine that consists of nothing but its network: the namespace of
// the test's thread.
type host struct {
	t     *testing.T
	state string
	clock time.Time
}

// newHost moves the test into a network namespace of its own, with a default
// route. The thread ends with the test, and the namespace with it.
func newHost(t *testing.T) *host {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("only root may make a network namespace to change: %v", err)
	}
	h := &host{t: t, state: t.TempDir(), clock: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)}
	peer := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: uplink}, PeerName: "peer"}
	h.must(netlink.LinkAdd(peer))
	for _, name := range []string{uplink, "peer"} {
		h.must(netlink.LinkSetUp(h.link(name)))
	}
	address, err := netlink.ParseAddr("192.0.2.2/24")
	h.must(err)
	h.must(netlink.AddrAdd(h.link(uplink), address))
	h.must(netlink.RouteAdd(h.route()))
	return h
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) link(name string) netlink.Link {
	h.t.Helper()
	link, err := netlink.LinkByName(name)
	h.must(err)
	return link
}

// start makes an agent, as if the one before had been killed.
func (h *host) start(settings *v1alpha1.NodeTuningSettings) *Agent {
	h.t.Helper()
	return h.startFor(theTuning, settings)
}

// startFor makes an agent of some NodeTuning.
func (h *host) startFor(name string, settings *v1alpha1.NodeTuningSettings) *Agent {
	h.t.Helper()
	agent, err := New(&Options{
		Tuning:       name,
		Machine:      "machine-1",
		Settings:     settings,
		SettingsHash: "hash",
		Sysctls:      sysctlFolder,
		StateFolder:  h.state,
		Log:          slog.New(slog.DiscardHandler),
	})
	h.must(err)
	agent.now = func() time.Time { return h.clock }
	return agent
}

// round lets an agent look at the machine once.
func (h *host) round(agent *Agent) *tuning.Report {
	h.t.Helper()
	agent.round()
	return agent.lastReport()
}

func (h *host) sysctl(name string) string {
	h.t.Helper()
	content, err := os.ReadFile(filepath.Join(sysctlFolder, name))
	h.must(err)
	return strings.Join(strings.Fields(string(content)), " ")
}

func (h *host) setSysctl(name, value string) {
	h.t.Helper()
	h.must(os.WriteFile(filepath.Join(sysctlFolder, name), []byte(value), 0))
}

// qdisc is that of an interface.
func (h *host) qdisc(name string) string {
	h.t.Helper()
	tree, err := interfaceQdisc{name}.tree()
	h.must(err)
	return tree.root.Type()
}

// route is the default route.
func (h *host) route() *netlink.Route {
	return &netlink.Route{LinkIndex: h.link(uplink).Attrs().Index, Gw: net.IPv4(192, 0, 2, 1)}
}

// values are all that the tests change.
func (h *host) values() map[string]string {
	h.t.Helper()
	values := map[string]string{"qdisc": h.qdisc(uplink)}
	for _, name := range []string{
		"ipv4/tcp_max_syn_backlog", "ipv4/tcp_mtu_probing", "ipv4/tcp_no_metrics_save", "ipv4/tcp_rmem",
		"ipv4/tcp_slow_start_after_idle", "ipv4/tcp_wmem",
	} {
		values[name] = h.sysctl(name)
	}
	return values
}

// states are the states of a report's settings.
func states(report *tuning.Report) map[string]v1alpha1.SettingState {
	states := map[string]v1alpha1.SettingState{}
	for _, setting := range report.Settings {
		states[setting.Name] = setting.State
	}
	return states
}

// message is what a report says of a setting.
func message(report *tuning.Report, name string) string {
	for _, setting := range report.Settings {
		if setting.Name == name {
			return setting.Message
		}
	}
	return ""
}
