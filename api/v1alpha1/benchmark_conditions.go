// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons of ConditionReady of a Benchmark; those that are for good are also
// reasons of ConditionStalled. ReasonNameTaken and ReasonApplyFailed are reasons
// as well.
const (
	// ReasonUnderWay: runs are made, or the result is.
	ReasonUnderWay = "UnderWay"
	// ReasonSucceeded: all criteria are met, and nothing that was compared is worse.
	ReasonSucceeded = "Succeeded"
	// ReasonCriterionMissed: a criterion is not met, or the figure that it is about
	// is not known.
	ReasonCriterionMissed = "CriterionMissed"
	// ReasonRegressed: a figure is worse than the baseline's.
	ReasonRegressed = "Regressed"
	// ReasonRunBroken: a run does not count.
	ReasonRunBroken = "RunBroken"
	// ReasonNotRunnable: this cluster cannot run the benchmark.
	ReasonNotRunnable = "NotRunnable"
	// ReasonNoResult: the runs are recorded, and no result could be made of them; of
	// ConditionUploaded, there is none.
	ReasonNoResult = "NoResult"
	// ReasonUploadFailed: there is a result, and it is not in its bucket.
	ReasonUploadFailed = "UploadFailed"
	// ReasonUploaded, of ConditionUploaded alone: the result is in its bucket.
	ReasonUploaded = "Uploaded"
)

// ConditionUploaded says whether the result of a benchmark is in the bucket of its
// spec.upload. Benchmarks without one do not have it, and others have it from the end of
// their upload on, or from their own without one.
const ConditionUploaded = "Uploaded"
