// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

// maxExceptions is as many exceptions as a status holds.
const maxExceptions = 32

// TuningSummary counts how the machines have each setting, and names the first
// exceptions.
func TuningSummary(
	observation *TuningObservation,
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
