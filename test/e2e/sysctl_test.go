// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// testForbiddenSysctl forbids BBR to pods, makes a network that wants it, and
// allows it again. The network says why it does not come up, and then does.
func (c *cluster) testForbiddenSysctl(t *testing.T) {
	allow := c.forbidBBR(t)
	spec := newSpec()
	spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
	n := c.create(t, troubleNamespace, "no-bbr", &spec)

	found := n.waitFor(t, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonSysctlForbidden)
	for _, words := range []string{"tcp_congestion_control", "net.ipv4.tcp_allowed_congestion_control"} {
		if !strings.Contains(found.Message, words) {
			t.Errorf("the message is %q, want one that says %q", found.Message, words)
		}
	}
	t.Log(found.Message)
	allow()
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	n.remove(t)
	n.waitForEnd(t)
}

// forbidBBR takes BBR off what this machine's kernel, which is the nodes',
// allows to everybody. What it returns puts it back.
func (*cluster) forbidBBR(t *testing.T) (allow func()) {
	t.Helper()
	const setting = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
	content, err := os.ReadFile(setting)
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("the nodes' kernel cannot be told from here to forbid BBR: %v", err)
	}
	write := func(controls []string) {
		if err := os.WriteFile(setting, []byte(strings.Join(controls, " ")), 0); err != nil {
			t.Error(err)
		}
	}
	before := strings.Fields(string(content))
	allow = func() { write(before) }
	t.Cleanup(allow)
	write(slices.DeleteFunc(slices.Clone(before), func(control string) bool { return control == "bbr" }))
	return allow
}
