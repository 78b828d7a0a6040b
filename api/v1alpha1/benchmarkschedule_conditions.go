// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ConditionOnTime says whether a benchmark was started at the latest time of a
// BenchmarkSchedule. Ready, which says whether the next one will be, does not depend
// on it.
const ConditionOnTime = "OnTime"

// Reasons of ConditionReady of a BenchmarkSchedule, besides ReasonNameTaken and
// ReasonApplyFailed.
const (
	// ReasonScheduled: the next benchmark is started when it is due.
	ReasonScheduled = "Scheduled"
	// ReasonSuspended: no benchmark is started, as the spec says.
	ReasonSuspended = "Suspended"
	// ReasonInvalidSchedule: the schedule or its time zone cannot be understood, or its
	// time never comes.
	ReasonInvalidSchedule = "InvalidSchedule"
)

// Reasons of ConditionOnTime.
const (
	// ReasonNothingDue: no time of the schedule has come yet.
	ReasonNothingDue = "NothingDue"
	// ReasonStarted: a benchmark was started at the latest time.
	ReasonStarted = "Started"
	// ReasonPreviousUnderWay: none was, because an earlier one was under way.
	ReasonPreviousUnderWay = "PreviousUnderWay"
	// ReasonDeadlinePassed: none was, because the operator came to it too late.
	ReasonDeadlinePassed = "DeadlinePassed"
)
