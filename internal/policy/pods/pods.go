// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/policy/wording"
)

const (
	// Patience is how long a pod that measures may take to run: its image is
	// pulled, and its volume made.
	Patience = 10 * time.Minute

	// reasonPodInitializing is why a container waits for those before it.
	reasonPodInitializing = "PodInitializing"
)

// Ended says whether the container of a pod has ended for good.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// RunsSince is when the container of a pod began to run; now if it does not run.
func RunsSince(pod *corev1.Pod, now time.Time) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if running := pod.Status.ContainerStatuses[i].State.Running; running != nil {
			return running.StartedAt.Time
		}
	}
	return now
}

// Ready says whether a pod is ready and stays.
func Ready(pod *corev1.Pod) bool {
	condition := Condition(pod, corev1.PodReady)
	return pod.DeletionTimestamp == nil && condition != nil && condition.Status == corev1.ConditionTrue
}

// Condition is the condition of a pod of some type; nil when it has none.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// Trouble says what keeps a pod from running, or ended it.
func Trouble(pod *corev1.Pod) string {
	if pod.Status.Reason != "" {
		return fmt.Sprintf("%s: %s", pod.Status.Reason, wording.Quote(pod.Status.Message))
	}
	if scheduled := Condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
		return "no machine takes it: " + wording.Quote(SchedulerWords(scheduled.Message))
	}
	// What goes before the container of a pod tells more of why that does not start.
	for _, words := range []string{
		containerEnded(pod.Status.ContainerStatuses),
		containerEnded(pod.Status.InitContainerStatuses), containerWaits(pod.Status.InitContainerStatuses),
		containerWaits(pod.Status.ContainerStatuses),
	} {
		if words != "" {
			return words
		}
	}
	return "its pod is " + string(pod.Status.Phase)
}

// containerEnded says how the first of some containers ended that ended with an error;
// empty when there is none.
func containerEnded(containers []corev1.ContainerStatus) string {
	for i := range containers {
		if ended := containers[i].State.Terminated; ended != nil && ended.ExitCode != 0 {
			return fmt.Sprintf("it ended with exit code %d: %s", ended.ExitCode, wording.Quote(wording.LastWords(ended.Message)))
		}
	}
	return ""
}

// containerWaits says what the first of some containers waits for that does not wait
// for those before it; empty when there is none.
func containerWaits(containers []corev1.ContainerStatus) string {
	for i := range containers {
		if waits := containers[i].State.Waiting; waits != nil && waits.Reason != "" && waits.Reason != reasonPodInitializing {
			return fmt.Sprintf("%s: %s", waits.Reason, wording.Quote(waits.Message))
		}
	}
	return ""
}

// SchedulerWords leaves out what the scheduler says of other pods that it might
// have moved out of the way.
func SchedulerWords(message string) string {
	words, _, _ := strings.Cut(message, " preemption: ")
	return strings.TrimSuffix(words, " no new claims to deallocate,")
}
