// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// imageReasons are why a container waits for its image.
var imageReasons = []string{
	"ErrImagePull",
	"ImagePullBackOff",
	"InvalidImageName",
	"ErrImageNeverPull",
	"ImageInspectError",
	"RegistryUnavailable",
	"SignatureValidationFailed",
}

// unavailableImage is a pod whose image its machine does not get.
func unavailableImage(_ *v1alpha1.ShardNetwork, node *observed.Node) *Diagnosis {
	waiting := WaitingForImage(node.Pod)
	if waiting == nil {
		return nil
	}
	return &Diagnosis{v1alpha1.ReasonImageUnavailable, fmt.Sprintf(
		"the image %s of %s cannot be had: %s. Correct spec.node.image, or let the machines reach its registry",
		node.Pod.Spec.Containers[0].Image, node.Validator.Name, wording.Quote(ImageWords(waiting, node.Warnings)))}
}

// WaitingForImage is a container of a pod that waits for its image; nil when none
// does.
func WaitingForImage(pod *corev1.Pod) *corev1.ContainerStateWaiting {
	for i := range pod.Status.ContainerStatuses {
		waiting := pod.Status.ContainerStatuses[i].State.Waiting
		if waiting != nil && slices.Contains(imageReasons, waiting.Reason) {
			return waiting
		}
	}
	return nil
}

// ImageWords prefers why a pull failed over that it is not tried just now.
func ImageWords(waiting *corev1.ContainerStateWaiting, warnings []observed.Warning) string {
	if waiting.Reason == "ImagePullBackOff" {
		for _, warning := range warnings {
			if strings.Contains(warning.Words, "Failed to pull") {
				return warning.Words
			}
		}
	}
	if waiting.Message == "" {
		return waiting.Reason
	}
	return waiting.Message
}
