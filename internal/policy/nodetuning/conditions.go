// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/tuning"
)

// MaxMachines is as many machines as a status holds.
const MaxMachines = 5000

// Observation is a NodeTuning as it was last seen.
type Observation struct {
	// Now is when it was seen.
	Now    time.Time
	Tuning *v1alpha1.NodeTuning
	// Namespace is where its agents are.
	Namespace string
	// Agents are those of the machines that are selected, by the name of their
	// machine.
	Agents []Agent
	// Leaving are those of the machines that are to get their old values back.
	Leaving []Agent
	// Wanted is how many machines should have one.
	Wanted int
	// Settling is true when the cluster has not yet taken up what was applied
	// last, so that the numbers may be old.
	Settling bool
}

// Agent is what tunes one machine, as it was last seen.
type Agent struct {
	Machine string
	// Pod is nil while there is none.
	Pod *corev1.Pod
	// Report is what it says of the settings that it should have; nil when it
	// does not answer, or has others.
	Report *tuning.Report
	// Recent is true when the machine read back all settings not long ago. Agents
	// that are replaced leave them as they are.
	Recent bool
	// Rival is another NodeTuning, whose agent has the machine already, and
	// TakenOver is true when that agent has done there what it was told.
	Rival     string
	TakenOver bool
	// NoRoom is true when the status has no room for the machine, whose agent is then
	// not asked and changes nothing.
	NoRoom bool
}

// Done says whether the machine is as its agent was told.
func (a *Agent) Done() bool {
	if a.Report != nil {
		return a.Report.Done()
	}
	return a.Recent
}

// restored says whether the machine is known to have its old values back, or to have got
// others since.
func (a *Agent) restored() bool { return a.TakenOver || a.Report != nil && a.Report.Done() }

// Done counts the selected machines that are as their agents were told.
func (o *Observation) Done() int { return countAgents(o.Agents, (*Agent).Done) }

// restored counts the machines that have their old values back, or got others since.
func (o *Observation) restored() int { return countAgents(o.Leaving, (*Agent).restored) }

func countAgents(agents []Agent, is func(*Agent) bool) int {
	number := 0
	for i := range agents {
		if is(&agents[i]) {
			number++
		}
	}
	return number
}

// Ready says whether all selected machines read back all settings, and if
// not, what a person can do about it.
func Ready(observation *Observation) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
	}
	total := max(observation.Wanted, len(observation.Agents))
	if total == 0 && !observation.Settling {
		return no(v1alpha1.ReasonNoMachines, "no machine of this cluster is selected: "+
			"give machines the labels of spec.nodeSelector, or let spec.tolerations name their taints")
	}
	if message := unavailable(observation.Agents); message != "" {
		return no(v1alpha1.ReasonSettingsUnavailable, message)
	}
	for i := range observation.Agents {
		if agent := &observation.Agents[i]; agent.Rival != "" {
			return no(v1alpha1.ReasonMachineTaken, fmt.Sprintf(
				"the machine %s has the NodeTuning %s already: let only one of the two select it", agent.Machine, agent.Rival))
		}
	}
	if done := observation.Done(); done < total || observation.Settling && !wasTuned(observation.Tuning) {
		return no(v1alpha1.ReasonAgentsMissing, fmt.Sprintf(
			"%d of %d machines are tuned; %s", done, total, missingAgent(observation)))
	}
	message := fmt.Sprintf("%d of %d machines read back all settings", total, total)
	if left := len(observation.Leaving) - observation.restored(); left > 0 {
		message += fmt.Sprintf("; of those that are no longer selected, %s", notRestored(observation))
	}
	return condition.New(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, message)
}

// wasTuned says whether all machines of the present spec were tuned when they
// were last seen: then it is the same machines whose agents are replaced.
func wasTuned(nodeTuning *v1alpha1.NodeTuning) bool {
	ready := meta.FindStatusCondition(nodeTuning.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == nodeTuning.Generation
}

// Restored says whether the machines that are to get their old values back
// have them, and if not, whom it waits for.
func Restored(observation *Observation) (done bool, waits metav1.Condition) {
	if observation.restored() == len(observation.Leaving) {
		return true, metav1.Condition{}
	}
	return false, condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring, notRestored(observation))
}

// notRestored says how many machines have their old values back, and why the
// first of the others has not.
func notRestored(observation *Observation) string {
	total := len(observation.Leaving)
	words := fmt.Sprintf("%d of %s %s back", observation.restored(), wording.Count(total, "machine"), haveOldValues(total))
	waits := ""
	for i := range observation.Leaving {
		agent := &observation.Leaving[i]
		switch {
		case agent.TakenOver:
		case agent.Report == nil:
			if waits == "" {
				waits = fmt.Sprintf("the agent of %s %s", agent.Machine, agentTrouble(agent, observation.Namespace))
			}
		case agent.Report.Trouble != "":
			return fmt.Sprintf("%s; on %s: %s", words, agent.Machine, wording.Quote(agent.Report.Trouble))
		}
	}
	if waits == "" {
		waits = "the others are being put back"
	}
	return words + "; " + waits
}

func haveOldValues(machines int) string {
	if machines == 1 {
		return "has its old values"
	}
	return "have their old values"
}

// Stalled finds what keeps a NodeTuning from getting ready until somebody
// changes something; nil when nothing does. A machine that is still to come, or that
// another NodeTuning has for the time being, is not among that.
func Stalled(ready *metav1.Condition) *metav1.Condition {
	return condition.Stalled(ready, v1alpha1.ReasonSettingsUnavailable)
}

// Disabled is a NodeTuning of an operator that tunes no machines; left is
// how many still have its settings.
func Disabled(left int) metav1.Condition {
	message := "the operator tunes no machines: set nodeTuning.enabled of its chart"
	switch {
	case left == 1:
		message += "; 1 machine keeps what was set until it starts anew"
	case left > 1:
		message += fmt.Sprintf("; %d machines keep what was set until they start anew", left)
	}
	return condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTuningDisabled, message)
}

// ApplyFailed is a NodeTuning whose agents cannot be made; cause says why.
func ApplyFailed(cause error) metav1.Condition {
	return condition.New(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, wording.Quote(cause.Error()))
}

// Steady says whether anybody else changes what is set.
func Steady(observation *Observation) metav1.Condition {
	reporting, drifted, first := 0, 0, ""
	for i := range observation.Agents {
		agent := &observation.Agents[i]
		if agent.Report == nil {
			continue
		}
		reporting++
		for _, setting := range agent.Report.Settings {
			if setting.State != v1alpha1.SettingDrifted {
				continue
			}
			if drifted++; drifted == 1 {
				first = fmt.Sprintf("on %s, %s", agent.Machine, wording.Quote(setting.Message))
			}
		}
	}
	switch {
	case reporting == 0:
		return condition.New(v1alpha1.ConditionSteady, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer,
			"no machine answers, so nothing is known of their settings")
	case drifted > 0:
		return condition.New(v1alpha1.ConditionSteady, metav1.ConditionFalse, v1alpha1.ReasonDrifted,
			first+andMore(drifted)+": see what else sets it")
	default:
		return condition.New(v1alpha1.ConditionSteady, metav1.ConditionTrue, v1alpha1.ReasonNothingDrifted,
			fmt.Sprintf("nobody else changed a setting of the %d of %d machines that answer",
				reporting, max(observation.Wanted, len(observation.Agents))))
	}
}

// unavailable is about the first setting that a machine does not take; empty
// when all machines take all.
func unavailable(agents []Agent) string {
	count, first := 0, ""
	for i := range agents {
		if agents[i].Report == nil {
			continue
		}
		for _, setting := range agents[i].Report.Settings {
			if setting.State != v1alpha1.SettingUnavailable {
				continue
			}
			if count++; count == 1 {
				first = fmt.Sprintf("%s does not take %s: %s", agents[i].Machine, setting.Name, wording.Quote(setting.Message))
			}
		}
	}
	if count == 0 {
		return ""
	}
	return first + andMore(count) + ". Change that machine, leave it out by spec.nodeSelector, or leave out the setting"
}

func andMore(count int) string {
	if count < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %d more like it, see status.exceptions)", count-1)
}

// missingAgent says why the first of those that are not done is not.
func missingAgent(observation *Observation) string {
	name, namespace := observation.Tuning.Name, observation.Namespace
	for i := range observation.Agents {
		agent := &observation.Agents[i]
		if agent.Done() {
			continue
		}
		return fmt.Sprintf("the agent of %s %s", agent.Machine, agentTrouble(agent, namespace))
	}
	if len(observation.Agents) < observation.Wanted {
		return fmt.Sprintf("the others have no agent yet: see kubectl --namespace %s describe daemonset %s", namespace, name)
	}
	return "the agents are being replaced"
}

func agentTrouble(agent *Agent, namespace string) string {
	pod := agent.Pod
	if agent.NoRoom {
		return fmt.Sprintf("changes nothing, because status.machines has room for %d machines: "+
			"let several NodeTunings select them", MaxMachines)
	}
	if pod == nil {
		return "has no pod yet"
	}
	if scheduled := pods.Condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
		return fmt.Sprintf("has no place: %s", wording.Quote(pods.SchedulerWords(scheduled.Message)))
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		last := status.LastTerminationState.Terminated
		if status.State.Terminated != nil {
			last = status.State.Terminated
		}
		if last != nil && status.State.Running == nil {
			words := strings.TrimPrefix(wording.LastWords(last.Message), "error: ")
			return fmt.Sprintf("ends with exit code %d: %s", last.ExitCode, wording.Quote(words))
		}
		if waiting := status.State.Waiting; waiting != nil && waiting.Message != "" {
			return fmt.Sprintf("does not start: %s", wording.Quote(waiting.Message))
		}
	}
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return "is starting"
	}
	return fmt.Sprintf("does not say that it is: see kubectl --namespace %s logs %s", namespace, pod.Name)
}
