// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/pods"
)

// upload takes the upload of a benchmark's result one step on, and says whether it is noted
// what became of it, after which the benchmark ends. What the judge said stays, whatever that
// is; but a benchmark succeeds only with its result where it was to be.
func upload(o *Observation, status *v1alpha1.BenchmarkStatus) (task Task, done bool) {
	if meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionUploaded) != nil {
		return TaskWait, true
	}
	const underWayWords = "the result is made, and is uploaded"
	if status.UploadStartTime == nil {
		// That is noted before there is a pod: an API server that refuses it does not undo that
		// the result was made, and the pod that made it may go.
		status.UploadStartTime = &metav1.Time{Time: o.Now}
		underWay(o, status, underWayWords)
		return TaskWait, false
	}
	if held(status) {
		// The pod has its own time from when nothing holds it up any more.
		status.UploadStartTime = &metav1.Time{Time: o.Now}
	}
	pod := o.Uploader
	switch late := o.Now.Sub(status.UploadStartTime.Time) > pods.Patience; {
	case late || pod != nil && pods.Ended(pod) && !takenAway(pod):
		return endUpload(o, status), true
	case pod == nil:
		underWay(o, status, underWayWords)
		return TaskMakeUploader, false
	case takenAway(pod):
		// Another one is made once it is gone.
		underWay(o, status, underWayWords+": the pod that uploads it was taken from its machine")
		if pod.DeletionTimestamp != nil {
			return TaskWait, false
		}
		return TaskRemoveUploader, false
	default:
		underWay(o, status, underWayWords+": "+pods.Trouble(pod))
		return TaskWait, false
	}
}

// endUpload notes what became of an upload that has ended or takes too long.
func endUpload(o *Observation, status *v1alpha1.BenchmarkStatus) Task {
	failed := func(words string) Task {
		noteUploaded(o, status, metav1.ConditionFalse, v1alpha1.ReasonUploadFailed, words)
		return TaskWait
	}
	pod := o.Uploader
	switch {
	case pod == nil:
		return failed(fmt.Sprintf("the pod that uploads it did not end within %s, and is gone", pods.Patience))
	case pod.Status.Phase == corev1.PodFailed:
		return failed(pods.Trouble(pod))
	case pods.Ended(pod) && o.UploadedTo == "":
		return failed("the pod that uploads it did not say where it is")
	case pods.Ended(pod):
		status.ArtifactURL = o.UploadedTo
		noteUploaded(o, status, metav1.ConditionTrue, v1alpha1.ReasonUploaded, "the result is in "+o.UploadedTo)
		return TaskWait
	default:
		failed(fmt.Sprintf("the pod that uploads it did not end within %s: %s", pods.Patience, pods.Trouble(pod)))
		// It would upload what is said not to be there.
		return TaskRemoveUploader
	}
}

// takenAway says whether a pod did not end by itself: somebody deletes it, or its machine has
// no room for it, or goes.
func takenAway(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	disrupted := pods.Condition(pod, corev1.DisruptionTarget)
	return pod.DeletionTimestamp != nil ||
		pod.Status.Phase == corev1.PodFailed && disrupted != nil && disrupted.Status == corev1.ConditionTrue
}

// noteUploaded notes whether the result is in the bucket.
func noteUploaded(o *Observation, status *v1alpha1.BenchmarkStatus, uploaded metav1.ConditionStatus, reason, words string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionUploaded, Status: uploaded, Reason: reason, Message: words,
		ObservedGeneration: o.Benchmark.Generation, LastTransitionTime: metav1.NewTime(o.Now),
	})
}

// withoutUpload is what a benchmark came to whose result is not in its bucket: what was
// decided, with why it is not, and nothing that succeeded.
func withoutUpload(
	status *v1alpha1.BenchmarkStatus, phase v1alpha1.BenchmarkPhase, reason, words string,
) (v1alpha1.BenchmarkPhase, string, string) {
	uploaded := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionUploaded)
	if uploaded == nil || uploaded.Status == metav1.ConditionTrue {
		return phase, reason, words
	}
	if phase == v1alpha1.BenchmarkSucceeded {
		return v1alpha1.BenchmarkFailed, v1alpha1.ReasonUploadFailed, "the result is not in its bucket: " + uploaded.Message
	}
	return phase, reason, words + "; and the result is not in its bucket: " + uploaded.Message
}
