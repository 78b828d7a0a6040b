// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// TellReady makes an event of what the condition Ready of an object that goes through
// phases came to, when its reason is another one than before: a warning, unless it is
// among the fine ones, which nobody has to look at.
func TellReady(
	recorder events.EventRecorder, object runtime.Object, before, ready *metav1.Condition, phase string, fine []string,
) {
	if before != nil && before.Reason == ready.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if !slices.Contains(fine, ready.Reason) {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(object, nil, kind, ready.Reason, v1alpha1.ConditionReady, "%s", Note(phase+": "+ready.Message))
}
