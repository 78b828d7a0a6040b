// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons of ConditionReady of a Fault in a cluster; those that are for good are also
// reasons of ConditionStalled. ReasonUnderWay, ReasonNotRunnable, ReasonNameTaken and
// ReasonApplyFailed are reasons as well.
const (
	// ReasonNetworkWaits: the network is not as it has to be for a fault to be told from
	// what else happens to it. Nothing was done to it.
	ReasonNetworkWaits = "NetworkWaits"
	// ReasonTakingBack: the fault cannot be measured, or is deleted, and is taken back.
	ReasonTakingBack = "TakingBack"
	// ReasonMeasured: the fault is over, and what came of it is known.
	ReasonMeasured = "Measured"
	// ReasonNotMeasured: what came of the fault is not known.
	ReasonNotMeasured = "NotMeasured"
)
