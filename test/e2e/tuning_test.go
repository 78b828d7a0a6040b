// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// tuningNamespace is where the chart lets agents run.
const tuningNamespace = "shardyard-node-tuning"

// The machines, and the regions that they are in.
const (
	refusingMachine, refusingRegion = "node-1", "us-east1"
	takingMachine, takingRegion     = "node-2", "us-east4"
)

// testTuning tunes two machines: one with settings that it takes, one with
// settings that only a machine of its own kernel has. It changes a value behind
// the agent's back, kills the agent, and compares what the machines read back
// before and after.
func (c *cluster) testTuning(t *testing.T) {
	if c.provider != "namespaces" {
		t.Skip("what the kernel says inside kind's nodes cannot be read from here")
	}
	before := map[string]map[string]string{}
	for _, machine := range []string{refusingMachine, takingMachine} {
		before[machine] = readMachine(t, machine)
	}

	taking := c.tune(t, "taken", takingMachine, v1alpha1.NodeTuningSettings{
		InterfaceQdisc:        v1alpha1.QdiscHTB,
		TCPMTUProbing:         v1alpha1.MTUProbingAfterBlackHole,
		TCPSlowStartAfterIdle: v1alpha1.SwitchDisabled,
		TCPRmem:               &v1alpha1.BufferSizes{MinBytes: 10240, DefaultBytes: 87380, MaxBytes: 134217728},
	})
	refused := c.tune(t, "refused", refusingMachine, v1alpha1.NodeTuningSettings{
		InterfaceQdisc: v1alpha1.QdiscFQ, RmemMaxBytes: 134217728, NetdevMaxBacklogPackets: 30000,
		TCPMTUProbing: v1alpha1.MTUProbingAlways,
	})
	running := c.createTuned(t, "on-tuned", takingRegion, taking)

	t.Run("reads back", func(t *testing.T) {
		taking.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned)
		if got, want := readMachine(t, takingMachine), tunedMachine(); !maps.Equal(got, want) {
			t.Errorf("the kernel says %q, want %q", got, want)
		}
	})
	t.Run("says what is unavailable", refused.testUnavailable)
	waiting := c.createTuned(t, "on-untuned", refusingRegion, refused)
	t.Run("keeps a second tuning off", taking.testRival)
	t.Run("puts right what somebody changes", taking.testDrift)
	t.Run("has networks wait", func(t *testing.T) {
		running.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
		running.waitFor(t, v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonTuned)
		// Where only the words change, a network takes its time to write them.
		eventually(t, "the words of "+waiting.name, func(context.Context) error {
			found := waiting.waitFor(t, v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, v1alpha1.ReasonTuningNotReady)
			if !strings.Contains(found.Message, refusingMachine+" does not take ") {
				return fmt.Errorf("the message is %q, want one that names the machine and the setting", found.Message)
			}
			return nil
		})
		if pods := waiting.mustPods(t); len(pods) > 0 {
			t.Errorf("%d validators were started on a machine that is not tuned", len(pods))
		}
	})
	t.Run("hands over to another version", func(t *testing.T) { taking.handOver(t, running) })
	for _, network := range []*network{running, waiting} {
		network.remove(t)
		network.waitForEnd(t)
	}
	t.Run("puts back a machine that is no longer selected", func(t *testing.T) {
		refused.deselect(t)
		if after := readMachine(t, refusingMachine); !maps.Equal(after, before[refusingMachine]) {
			t.Errorf("%s reads back %q, want %q as before", refusingMachine, after, before[refusingMachine])
		}
	})
	t.Run("puts everything back", func(t *testing.T) {
		// An agent that ends puts nothing back, however it ends.
		killAgent(t, takingMachine)
		for _, tuning := range []*nodeTuning{taking, refused} {
			tuning.remove(t)
		}
		sets := &appsv1.DaemonSetList{}
		if err := c.List(t.Context(), sets, client.InNamespace(tuningNamespace)); err != nil || len(sets.Items) > 0 {
			t.Errorf("there are DaemonSets of agents: %v: %v", sets.Items, err)
		}
		for machine, values := range before {
			if after := readMachine(t, machine); !maps.Equal(after, values) {
				t.Errorf("%s reads back %q, want %q as before", machine, after, values)
			}
		}
	})
}

// nodeTuning is a NodeTuning of the cluster.
type nodeTuning struct {
	*cluster
	name string
}

// tune makes a NodeTuning of one machine.
func (c *cluster) tune(t *testing.T, name, machine string, settings v1alpha1.NodeTuningSettings) *nodeTuning {
	t.Helper()
	n := &nodeTuning{c, name}
	t.Cleanup(func() {
		if t.Failed() {
			n.show(t, "describe", "nodetuning", name)
			n.show(t, "--namespace", tuningNamespace, "describe", "pods")
			n.show(t, "--namespace", tuningNamespace, "logs", "--selector", "shardyard.dev/node-tuning="+name, "--tail", "40")
			n.showOperator(t)
		}
	})
	if err := c.Create(t.Context(), &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.NodeTuningSpec{
			NodeSelector: map[string]v1alpha1.LabelValue{corev1.LabelHostname: v1alpha1.LabelValue(machine)}, Settings: settings,
		},
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// createTuned makes a network of one validator that requires a NodeTuning.
func (c *cluster) createTuned(t *testing.T, name, region string, tuning *nodeTuning) *network {
	t.Helper()
	c.newNamespace(t, troubleNamespace, "privileged")
	spec := newSpec()
	spec.Regions[0].Name = region
	spec.Placement.RegionAffinity = v1alpha1.RegionRequired
	spec.Placement.NodeTuning = tuning.name
	return c.create(t, troubleNamespace, name, &spec)
}

func (n *nodeTuning) read(ctx context.Context) (*v1alpha1.NodeTuning, error) {
	live := &v1alpha1.NodeTuning{}
	err := n.Get(ctx, client.ObjectKey{Name: n.name}, live)
	return live, err
}

// waitFor waits until a condition about the present spec has a status and a
// reason, and returns the NodeTuning and the condition's message.
func (n *nodeTuning) waitFor(
	t *testing.T, kind string, status metav1.ConditionStatus, reason string,
) (live *v1alpha1.NodeTuning, message string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s of NodeTuning %s to be %s by %s", kind, n.name, status, reason), func(ctx context.Context) error {
		var err error
		if live, err = n.read(ctx); err != nil {
			return err
		}
		found := meta.FindStatusCondition(live.Status.Conditions, kind)
		if found == nil {
			return errors.New("there is none")
		}
		if found.ObservedGeneration != live.Generation || found.Status != status || found.Reason != reason {
			return fmt.Errorf("it is %s by %s: %s", found.Status, found.Reason, found.Message)
		}
		message = found.Message
		return nil
	})
	t.Log(message)
	return live, message
}

// remove deletes the NodeTuning and waits until it is gone, which it is only
// when its machines have their old values back.
func (n *nodeTuning) remove(t *testing.T) {
	t.Helper()
	if err := n.Delete(t.Context(), &v1alpha1.NodeTuning{ObjectMeta: metav1.ObjectMeta{Name: n.name}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of NodeTuning "+n.name, func(ctx context.Context) error {
		live, err := n.read(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %+v: %w", live.Status.Conditions, err)
	})
}

// testUnavailable reads the words of a kernel that has no fq, in a namespace
// that is not its first.
func (n *nodeTuning) testUnavailable(t *testing.T) {
	live, _ := n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSettingsUnavailable)
	want := map[string]string{
		"interfaceQdisc":          "Specified qdisc kind is unknown",
		"rmemMaxBytes":            "net.core.rmem_max: permission denied",
		"netdevMaxBacklogPackets": "net.core.netdev_max_backlog: no such file or directory",
	}
	for _, exception := range live.Status.Exceptions {
		words, known := want[exception.Setting]
		if !known || exception.State != v1alpha1.SettingUnavailable || exception.Machine != refusingMachine ||
			!strings.Contains(exception.Message, words) {
			t.Errorf("an exception is %+v, want an unavailable one of %q", exception, want)
		}
		delete(want, exception.Setting)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	for _, setting := range live.Status.Settings {
		if setting.Name == "tcpMTUProbing" && setting.Applied != 1 {
			t.Errorf("of what the machine takes, the status says %+v", setting)
		}
	}
}

// testDrift changes a value as somebody else would.
func (n *nodeTuning) testDrift(t *testing.T) {
	tuned := readMachine(t, takingMachine)
	inMachine(t, takingMachine, "sysctl", "-qw", "net.ipv4.tcp_mtu_probing=2")
	live, message := n.waitFor(t, v1alpha1.ConditionSteady, metav1.ConditionFalse, v1alpha1.ReasonDrifted)
	if want := "net.ipv4.tcp_mtu_probing was 2 at "; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want one that says %q", message, want)
	}
	if len(live.Status.Exceptions) != 1 || live.Status.Exceptions[0].State != v1alpha1.SettingDrifted {
		t.Errorf("the exceptions are %+v, want one that drifted", live.Status.Exceptions)
	}
	if now := readMachine(t, takingMachine); !maps.Equal(now, tuned) {
		t.Errorf("the kernel says %q, want %q again", now, tuned)
	}
}

// testRival makes another NodeTuning of a machine that has one.
func (n *nodeTuning) testRival(t *testing.T) {
	rival := n.tune(t, "rival", takingMachine, v1alpha1.NodeTuningSettings{TCPMTUProbing: v1alpha1.MTUProbingDisabled})
	_, message := rival.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMachineTaken)
	if !strings.Contains(message, "the NodeTuning "+n.name) {
		t.Errorf("the message is %q, want one that names %s", message, n.name)
	}
	rival.remove(t)
}

// tunedSysctls are those that are set, and what they are set to.
var tunedSysctls = map[string]string{
	"net/ipv4/tcp_mtu_probing":           "1",
	"net/ipv4/tcp_slow_start_after_idle": "0",
	"net/ipv4/tcp_rmem":                  "10240 87380 134217728",
}

// tunedMachine is what a machine reads back once it is tuned.
func tunedMachine() map[string]string {
	tuned := maps.Clone(tunedSysctls)
	tuned["qdisc"] = "htb"
	return tuned
}

// readMachine reads what is set from a machine's kernel, past everything that
// reports it.
func readMachine(t *testing.T, machine string) map[string]string {
	t.Helper()
	values, err := lookAtKernel(t.Context(), machine)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func lookAtKernel(ctx context.Context, machine string) (map[string]string, error) {
	output, err := command(ctx, "tc", "-n", namespaceOf(machine), "qdisc", "show", "dev", "eth0", "root")
	if err != nil {
		return nil, err
	}
	// The second word of the first line; the statistics behind it change.
	values := map[string]string{"qdisc": strings.Fields(output)[1]}
	for name := range tunedSysctls {
		value, err := command(ctx, "ip", "netns", "exec", namespaceOf(machine), "cat", "/proc/sys/"+name)
		if err != nil {
			return nil, err
		}
		values[name] = words(value)
	}
	return values, nil
}

// words are those of a text, one space apart.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// killAgent ends the agent of a machine without a chance to put anything back.
func killAgent(t *testing.T, machine string) {
	t.Helper()
	killed := 0
	for word := range strings.FieldsSeq(run(t, "ip", "netns", "pids", namespaceOf(machine))) {
		process, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process))
		if err != nil || !strings.Contains(string(command), "\x00tune-machine\x00") {
			continue
		}
		if err := syscall.Kill(process, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed++
	}
	if killed != 1 {
		t.Errorf("%d agents were killed on %s, want 1", killed, machine)
	}
}

// namespaceOf is the network namespace of a machine of the development cluster.
func namespaceOf(machine string) string { return "shardyard-" + machine }

// inMachine runs a command in a machine's network namespace.
func inMachine(t *testing.T, machine string, command ...string) string {
	t.Helper()
	return run(t, append([]string{"ip", "netns", "exec", namespaceOf(machine)}, command...)...)
}

// run runs a command of this machine.
func run(t *testing.T, words ...string) string {
	t.Helper()
	output, err := command(t.Context(), words...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func command(ctx context.Context, words ...string) (string, error) {
	path, err := exec.LookPath(words[0])
	if err != nil {
		return "", err
	}
	return program{path, os.Environ()}.run(ctx, "", words[1:]...)
}
