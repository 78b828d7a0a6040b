// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a NodeTuning, besides ConditionReady: every selected
// machine reads back every setting.
const (
	// ConditionSteady says that nobody else changes the settings. Ready does not
	// depend on it: what somebody changes is put right.
	ConditionSteady = "Steady"
)

// Reasons of a NodeTuning's ConditionReady, besides ReasonTuned and
// ReasonApplyFailed.
const (
	// ReasonNoMachines: the spec selects no machine.
	ReasonNoMachines = "NoMachines"
	// ReasonAgentsMissing: what sets and reads the settings does not run on some
	// machines.
	ReasonAgentsMissing = "AgentsMissing"
	// ReasonMachineTaken: a machine has another NodeTuning.
	ReasonMachineTaken = "MachineTaken"
	// ReasonSettingsUnavailable: some machines do not take a setting.
	ReasonSettingsUnavailable = "SettingsUnavailable"
	// ReasonRestoring: the NodeTuning is deleted or the operator tunes no machines,
	// and machines have yet to put their old values back.
	ReasonRestoring = "Restoring"
	// ReasonTuningDisabled: the operator tunes no machines.
	ReasonTuningDisabled = "TuningDisabled"
)

// Reasons of ConditionSteady, besides ReasonNoAnswer.
const (
	// ReasonNothingDrifted: no setting was changed not long ago.
	ReasonNothingDrifted = "NothingDrifted"
	// ReasonDrifted: somebody else changed a setting not long ago.
	ReasonDrifted = "Drifted"
)

// ConditionMachinesTuned says that the machines of a ShardNetwork have the
// NodeTuning that its spec requires.
const ConditionMachinesTuned = "MachinesTuned"

// Reasons of ConditionMachinesTuned, besides ReasonNothingToTune and
// ReasonTuned.
const (
	// ReasonTuningMissing: there is no NodeTuning of that name.
	ReasonTuningMissing = "TuningMissing"
	// ReasonTuningNotReady: the NodeTuning is not ready.
	ReasonTuningNotReady = "TuningNotReady"
	// ReasonMachineNotTuned: a validator runs on a machine without it.
	ReasonMachineNotTuned = "MachineNotTuned"
)
