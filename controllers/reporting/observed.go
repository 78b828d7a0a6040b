// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Observed says whether a status that has these conditions is of that generation of its
// object: Ready is then. While nothing could be found out about a generation, its status
// does not say that it is of it. It would be taken for a status in which all is well when
// it has no conditions, and for news of this generation when they are of another one.
func Observed(conditions []metav1.Condition, generation int64) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.ObservedGeneration == generation
}
