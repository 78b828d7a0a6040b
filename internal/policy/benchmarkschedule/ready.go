// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// Hold notes what keeps a benchmark from being made that is due, in a status
// that knows nothing of it: it is tried again.
func Hold(o *Observation, status *v1alpha1.BenchmarkScheduleStatus, reason, words string) {
	setReady(o, status, metav1.ConditionFalse, reason, words)
}

// setReady notes whether the next benchmark is started when it is due, and whether
// that takes somebody who changes something.
func setReady(
	o *Observation, status *v1alpha1.BenchmarkScheduleStatus, ready metav1.ConditionStatus, reason, words string,
) {
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration, condition.LastTransitionTime = o.Schedule.Generation, metav1.NewTime(o.Now)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	found := condition.New(v1alpha1.ConditionReady, ready, reason, words)
	set(found)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	if stalled := condition.Stalled(&found, v1alpha1.ReasonInvalidSchedule); stalled != nil {
		set(*stalled)
	}
}

// setOnTime notes whether a benchmark was started at the latest time of a schedule.
func setOnTime(
	o *Observation, status *v1alpha1.BenchmarkScheduleStatus, onTime metav1.ConditionStatus, reason, words string,
) {
	found := condition.New(v1alpha1.ConditionOnTime, onTime, reason, words)
	found.ObservedGeneration, found.LastTransitionTime = o.Schedule.Generation, metav1.NewTime(o.Now)
	meta.SetStatusCondition(&status.Conditions, found)
}
