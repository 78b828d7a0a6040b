// SPDX-License-Identifier: Apache-2.0

package nodetuning_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/tuning"
)

// The words of others.
const (
	readOnly = "set net.core.rmem_max: permission denied"

	noDiscipline = "set the queueing discipline of eth0 to fq: no such file or directory: Specified qdisc kind is unknown"

	changed = "net.ipv4.tcp_mtu_probing was 0 at 2026-11-21T12:00:03Z and was put back to 1; it was changed once since the agent started"

	noPort = "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. " +
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
)

// tuned is a NodeTuning of a number of machines that all read back its settings.
func tuned(machines int) *tuningpolicy.Observation {
	nodeTuning := &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: "high-throughput", Generation: 3},
		Spec: v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{
			InterfaceQdisc: v1alpha1.QdiscFQ, RmemMaxBytes: 134217728, TCPMTUProbing: v1alpha1.MTUProbingAfterBlackHole,
		}},
	}
	observation := &tuningpolicy.Observation{Tuning: nodeTuning, Namespace: "shardyard-node-tuning", Wanted: machines}
	for i := range machines {
		report := &tuning.Report{Held: 3}
		for _, setting := range tuning.Settings(&nodeTuning.Spec.Settings) {
			report.Settings = append(report.Settings, tuning.SettingReport{Name: setting.Name, State: v1alpha1.SettingApplied})
		}
		machine := fmt.Sprintf("machine-%d", i)
		observation.Agents = append(observation.Agents, tuningpolicy.Agent{Machine: machine, Report: report, Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "high-throughput-" + machine},
			Spec:       corev1.PodSpec{NodeName: machine},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		}})
	}
	return observation
}

// say has an agent say something of a setting.
func say(agent *tuningpolicy.Agent, setting string, state v1alpha1.SettingState, message string) {
	for i := range agent.Report.Settings {
		if agent.Report.Settings[i].Name == setting {
			agent.Report.Settings[i].State, agent.Report.Settings[i].Message = state, message
		}
	}
}

// silent is an agent whose container waits or has ended.
func silent(agent *tuningpolicy.Agent, state corev1.ContainerState, last *corev1.ContainerStateTerminated) {
	agent.Report = nil
	agent.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: state, LastTerminationState: corev1.ContainerState{Terminated: last},
	}}
}

func restored(observation *tuningpolicy.Observation) metav1.Condition {
	_, waits := tuningpolicy.Restored(observation)
	return waits
}

// leave has the machines of a NodeTuning get their old values back.
func leave(observation *tuningpolicy.Observation) {
	observation.Leaving, observation.Agents = observation.Agents, nil
	for i := range observation.Leaving {
		observation.Leaving[i].Report = &tuning.Report{}
	}
}

func TestTuned(t *testing.T) {
	t.Parallel()
	checkCondition(t, tuningpolicy.Ready(tuned(3)), metav1.ConditionTrue, v1alpha1.ReasonTuned, "3 of 3 machines read back all settings")
	checkCondition(t, tuningpolicy.Steady(tuned(3)), metav1.ConditionTrue, v1alpha1.ReasonNothingDrifted, "of the 3 of 3 machines that answer")

	// What was put right is right.
	drifting := tuned(3)
	say(&drifting.Agents[0], "tcpMTUProbing", v1alpha1.SettingDrifted, changed)
	checkCondition(t, tuningpolicy.Ready(drifting), metav1.ConditionTrue, v1alpha1.ReasonTuned, "3 of 3")
}

// While the cluster takes up what was applied, its numbers mean nothing.
func TestSettling(t *testing.T) {
	t.Parallel()
	for _, machines := range []int{0, 3} {
		observation := tuned(machines)
		observation.Settling = true
		checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, "the agents are being replaced")
	}
}

// Agents of another image take over from those that tuned all machines: nothing
// is set anew, and nothing is less tuned meanwhile.
func TestHandOver(t *testing.T) {
	t.Parallel()
	observation := tuned(3)
	was := tuningpolicy.Ready(observation)
	was.ObservedGeneration = observation.Tuning.Generation
	observation.Tuning.Status.Conditions = []metav1.Condition{was}
	observation.Settling = true
	agent := &observation.Agents[1]
	agent.Report, agent.Pod, agent.Recent = nil, nil, true
	checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionTrue, v1alpha1.ReasonTuned, "3 of 3 machines read back all settings")

	// But not for ever, and not under a spec that nobody has seen tuned.
	agent.Recent = false
	checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing,
		"2 of 3 machines are tuned; the agent of machine-1 has no pod yet")
	agent.Recent = true
	observation.Tuning.Generation++
	checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, "the agents are being replaced")
}

// A machine that is no longer selected does not keep the others from being ready.
func TestMachinesThatLeave(t *testing.T) {
	t.Parallel()
	observation := tuned(3)
	observation.Leaving = []tuningpolicy.Agent{{Machine: "machine-9"}}
	checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionTrue, v1alpha1.ReasonTuned,
		"3 of 3 machines read back all settings; of those that are no longer selected, 0 of 1 machine has its old values back; "+
			"the agent of machine-9 has no pod yet")
	noted := []v1alpha1.TunedMachine{{Name: "machine-0", SettingsHash: "old"}, {Name: "machine-1"}, {Name: "machine-9", SettingsHash: "new"}}
	observation.Agents[1].Report.Settings[0].State = v1alpha1.SettingUnavailable
	want := []v1alpha1.TunedMachine{{Name: "machine-0", SettingsHash: "new"}, {Name: "machine-1"}, {Name: "machine-9"}}
	if got := tuningpolicy.NotedMachines(observation, noted, "new"); !reflect.DeepEqual(got, want) {
		t.Errorf("the machines are %+v, want %+v", got, want)
	}
	observation.Leaving[0].Report = &tuning.Report{}
	if got := tuningpolicy.NotedMachines(observation, noted, "new"); !reflect.DeepEqual(got, want[:2]) {
		t.Errorf("the machines are %+v, want %+v", got, want[:2])
	}
}

// Machines go together, and wait a minute for one that is silent.
func TestMachinesThatAreLetGoOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	podOf := func(age time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-age))}}
	}
	done, troubled := &tuning.Report{}, &tuning.Report{Trouble: "permission denied"}
	for name, test := range map[string]struct {
		others []tuningpolicy.Agent
		want   string
	}{
		"all have their old values": {[]tuningpolicy.Agent{{Report: done, Pod: podOf(time.Second)}}, ""},
		"one has a rival's":         {[]tuningpolicy.Agent{{TakenOver: true}}, ""},
		"one has no pod yet":        {[]tuningpolicy.Agent{{}}, "0 1"},
		"one has begun":             {[]tuningpolicy.Agent{{Pod: podOf(59 * time.Second)}}, "0 1"},
		"one is off":                {[]tuningpolicy.Agent{{Pod: podOf(time.Minute)}}, "1"},
		"one cannot":                {[]tuningpolicy.Agent{{Pod: podOf(time.Hour), Report: troubled}}, "1"},
		"one is off, one has begun": {[]tuningpolicy.Agent{{Pod: podOf(time.Hour)}, {Pod: podOf(time.Second)}}, "0 1 2"},
		"two are off":               {[]tuningpolicy.Agent{{Pod: podOf(time.Hour)}, {Pod: podOf(time.Minute)}}, "1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaving := append([]tuningpolicy.Agent{{Report: done, Pod: podOf(time.Hour)}}, test.others...)
			observation := &tuningpolicy.Observation{Now: now, Leaving: leaving}
			var noted []v1alpha1.TunedMachine
			for i := range observation.Leaving {
				observation.Leaving[i].Machine = strconv.Itoa(i)
				noted = append(noted, v1alpha1.TunedMachine{Name: strconv.Itoa(i)})
			}
			var left []string
			for _, machine := range tuningpolicy.NotedMachines(observation, noted, "") {
				left = append(left, machine.Name)
			}
			if got := strings.Join(left, " "); got != test.want {
				t.Errorf("the machines are %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhyAnAgentIsSilent(t *testing.T) {
	t.Parallel()
	ended := corev1.ContainerStateTerminated{
		ExitCode: 1, Message: "error: another agent may tune this machine: bind: address already in use\n",
	}
	for name, test := range map[string]struct {
		change func(*tuningpolicy.Agent)
		want   string
	}{
		"starting": {
			func(agent *tuningpolicy.Agent) { agent.Report, agent.Pod.Status.Phase = nil, corev1.PodPending },
			"the agent of machine-1 is starting",
		},
		"silent": {
			func(agent *tuningpolicy.Agent) { agent.Report = nil },
			"does not say that it is: see kubectl --namespace shardyard-node-tuning logs high-throughput-machine-1",
		},
		"waiting to start again": {
			func(agent *tuningpolicy.Agent) {
				silent(agent, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Message: "back-off"}}, &ended)
			},
			"ends with exit code 1: another agent may tune this machine: bind: address already in use",
		},
		"ended": {
			func(agent *tuningpolicy.Agent) { silent(agent, corev1.ContainerState{Terminated: &ended}, nil) },
			"ends with exit code 1: another agent may tune this machine: bind: address already in use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := tuned(3)
			test.change(&observation.Agents[1])
			checkCondition(t, tuningpolicy.Ready(observation), metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, test.want)
		})
	}
}

func TestRestored(t *testing.T) {
	t.Parallel()
	observation := tuned(2)
	leave(observation)
	agent := &observation.Leaving[1]
	agent.Report = nil
	if done, _ := tuningpolicy.Restored(observation); done {
		t.Error("a machine that does not answer counts as restored")
	}
	// Who was here not long ago is no evidence that the old values are back.
	agent.Recent = true
	if done, _ := tuningpolicy.Restored(observation); done {
		t.Error("a machine that was tuned not long ago counts as restored")
	}
	agent.Report = &tuning.Report{Held: 1}
	if done, _ := tuningpolicy.Restored(observation); done {
		t.Error("a machine with an old value to put back counts as restored")
	}
	agent.Report = &tuning.Report{}
	if done, _ := tuningpolicy.Restored(observation); !done {
		t.Error("the machines count as not restored")
	}
	// Another tuning's agent has put back what it does not set itself.
	agent.Report, agent.Rival = nil, "other"
	if done, _ := tuningpolicy.Restored(observation); done {
		t.Error("a machine that another tuning is about to have counts as restored")
	}
	agent.TakenOver = true
	if done, _ := tuningpolicy.Restored(observation); !done {
		t.Error("a machine that has another tuning counts as not restored")
	}
	if done, _ := tuningpolicy.Restored(tuned(0)); !done {
		t.Error("no machines count as not restored")
	}
}

func TestTuningSummary(t *testing.T) {
	t.Parallel()
	observation := tuned(40)
	for i := range observation.Agents {
		say(&observation.Agents[i], "rmemMaxBytes", v1alpha1.SettingUnavailable, readOnly)
	}
	say(&observation.Agents[1], "tcpMTUProbing", v1alpha1.SettingDrifted, changed)
	observation.Agents[2].Report = nil

	settings, exceptions, omitted := tuningpolicy.Summary(observation)
	if want := []v1alpha1.SettingSummary{
		{Name: "interfaceQdisc", Applied: 39},
		{Name: "rmemMaxBytes", Unavailable: 39},
		{Name: "tcpMTUProbing", Applied: 38, Drifted: 1},
	}; !reflect.DeepEqual(settings, want) {
		t.Errorf("the settings are %+v, want %+v", settings, want)
	}
	if want := []v1alpha1.SettingException{
		{Machine: "machine-0", Setting: "rmemMaxBytes", State: v1alpha1.SettingUnavailable, Message: readOnly},
		{Machine: "machine-1", Setting: "rmemMaxBytes", State: v1alpha1.SettingUnavailable, Message: readOnly},
		{Machine: "machine-1", Setting: "tcpMTUProbing", State: v1alpha1.SettingDrifted, Message: changed},
		{Machine: "machine-3", Setting: "rmemMaxBytes", State: v1alpha1.SettingUnavailable, Message: readOnly},
	}; !reflect.DeepEqual(exceptions[:4], want) {
		t.Errorf("the first exceptions are %+v, want %+v", exceptions[:4], want)
	}
	if len(exceptions) != 32 || omitted != 8 {
		t.Errorf("there are %d exceptions and %d more, want 32 and 8", len(exceptions), omitted)
	}
}

func TestTuningStalled(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{
		v1alpha1.ReasonSettingsUnavailable: true,
		v1alpha1.ReasonAgentsMissing:       false,
		v1alpha1.ReasonNoMachines:          false,
	} {
		ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}
		if stalled := tuningpolicy.Stalled(&ready); (stalled != nil) != want {
			t.Errorf("%s stalls by %+v, want %v", reason, stalled, want)
		}
	}
}

func checkCondition(t *testing.T, got metav1.Condition, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	if got.Status != status || got.Reason != reason || !strings.Contains(got.Message, message) {
		t.Errorf("the condition is %s, %s: %q; want %s, %s, and that it says %q",
			got.Status, got.Reason, got.Message, status, reason, message)
	}
}
