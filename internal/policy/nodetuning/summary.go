// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

// maxExceptions is as many exceptions as a status holds.
const maxExceptions = 32

// Summary counts how the machines have each setting, and names the first
// exceptions.
func Summary(
	observation *Observation,
) (settings []v1alpha1.SettingSummary, exceptions []v1alpha1.SettingException, omitted int32) {
	index := map[string]int{}
	for i, setting := range tuning.Settings(&observation.Tuning.Spec.Settings) {
		index[setting.Name] = i
		settings = append(settings, v1alpha1.SettingSummary{Name: setting.Name})
	}
	for i := range observation.Agents {
		agent := &observation.Agents[i]
		if agent.Report == nil {
			continue
		}
		for _, setting := range agent.Report.Settings {
			at, known := index[setting.Name]
			if !known {
				continue
			}
			tally(&settings[at], setting.State)
			switch {
			case setting.State == v1alpha1.SettingApplied:
			case len(exceptions) == maxExceptions:
				omitted++
			default:
				exceptions = append(exceptions, v1alpha1.SettingException{
					Machine: agent.Machine, Setting: setting.Name, State: setting.State, Message: setting.Message,
				})
			}
		}
	}
	return settings, exceptions, omitted
}

// restoringPatience is how long the agent of a machine has for old values until the other
// machines wait for it no longer.
const restoringPatience = time.Minute

// NotedMachines are those that have settings, or may have, of those that were
// noted before: all but those that are no longer selected, got their old values
// back, and are let go of. They have the settings of that hash if they read them back not long ago.
func NotedMachines(
	observation *Observation, noted []v1alpha1.TunedMachine, settingsHash string,
) []v1alpha1.TunedMachine {
	tuned, gone := map[string]bool{}, map[string]bool{}
	for i := range observation.Agents {
		tuned[observation.Agents[i].Machine] = observation.Agents[i].Done()
	}
	if letsGo(observation) {
		for i := range observation.Leaving {
			gone[observation.Leaving[i].Machine] = observation.Leaving[i].restored()
		}
	}
	var machines []v1alpha1.TunedMachine
	for _, machine := range noted {
		if gone[machine.Name] {
			continue
		}
		machine.SettingsHash = ""
		if tuned[machine.Name] {
			machine.SettingsHash = settingsHash
		}
		machines = append(machines, machine)
	}
	return machines
}

// letsGo says whether machines that have their old values back need no agent any more: it is
// in the way of another NodeTuning there. They go together, once the others have theirs as well
// or have had time for it, because each time the agents of the others are replaced.
func letsGo(observation *Observation) bool {
	for i := range observation.Leaving {
		agent := &observation.Leaving[i]
		if !agent.restored() && (agent.Pod == nil || observation.Now.Sub(agent.Pod.CreationTimestamp.Time) < restoringPatience) {
			return false
		}
	}
	return true
}

func tally(summary *v1alpha1.SettingSummary, state v1alpha1.SettingState) {
	switch state {
	case v1alpha1.SettingApplied:
		summary.Applied++
	case v1alpha1.SettingDrifted:
		summary.Drifted++
	case v1alpha1.SettingUnavailable:
		summary.Unavailable++
	}
}
