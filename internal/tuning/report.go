// SPDX-License-Identifier: Apache-2.0

package tuning

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Port is where an agent serves, on the address of its machine. Only one
// program of a machine has it, so that a machine has one agent at most.
const Port = 26800

// Paths of an agent's HTTP API.
const (
	// PathReport has the Report. The first agent of a machine changes nothing
	// until somebody asks for it.
	PathReport = "/report"
	// PathReady answers 200 while the machine is as the agent was told.
	PathReady = "/readyz"
	// PathHealth answers 200.
	PathHealth = "/healthz"
)

// Report is what an agent says of its machine.
type Report struct {
	// Tuning is the name of the NodeTuning that it works for, and Machine that of
	// the Node it runs on.
	Tuning  string `json:"tuning"`
	Machine string `json:"machine"`
	// SettingsHash says which settings it was told.
	SettingsHash string `json:"settingsHash"`
	// Settings are those settings as the machine has them, in the order of
	// Settings.
	Settings []SettingReport `json:"settings"`
	// Held is how many values it is to put back at some time, and Trouble why it
	// has not, when it could not.
	Held    int    `json:"held"`
	Trouble string `json:"trouble,omitempty"`
}

// SettingReport is one setting as a machine has it.
type SettingReport struct {
	// Name is the field of spec.settings.
	Name  string                `json:"name"`
	State v1alpha1.SettingState `json:"state"`
	// Message are the kernel's words, or what was found.
	Message string `json:"message,omitempty"`
}

// Done says whether the machine is as the agent was told: it reads back every
// setting, and an agent without settings has put all old values back.
func (r *Report) Done() bool {
	for i := range r.Settings {
		if r.Settings[i].State == v1alpha1.SettingUnavailable {
			return false
		}
	}
	return r.Trouble == "" && (len(r.Settings) > 0 || r.Held == 0)
}
