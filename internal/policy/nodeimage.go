// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// ImageChoice is which image the nodes of a network are made with.
type ImageChoice struct {
	// Image is that image, and Wanted the one of the spec, or the default that the
	// network keeps.
	Image, Wanted string
	// Default is the default that the network keeps; empty when the spec names an
	// image.
	Default string
	// Check is true when the formats of the wanted image have to be found out first.
	Check bool
	// found is what was found out of the wanted image, and formats are those of the
	// network's nodes.
	found   *v1alpha1.ImageCheck
	formats *int32
}

// ChooseImage decides which image the nodes of a network are made with, by what
// its status has kept. A network keeps the default image that it began with:
// another release of the operator, which names another one, changes nothing of it.
// And nodes that run keep their image until the wanted one is known to have their
// formats, or not to say: nodes of different formats do not understand each other,
// nor each other's disks.
func ChooseImage(network *v1alpha1.ShardNetwork, offered string) ImageChoice {
	status := &network.Status
	choice := ImageChoice{Wanted: network.Spec.Node.Image, formats: status.Formats}
	if choice.Wanted == "" {
		choice.Default = keptDefault(network, offered)
		choice.Wanted = choice.Default
	}
	if status.ImageCheck != nil && status.ImageCheck.Image == choice.Wanted {
		choice.found = status.ImageCheck
	}
	choice.Image = choice.Wanted
	if status.NodeImage == "" || status.NodeImage == choice.Wanted || status.Formats == nil {
		return choice
	}
	choice.Check = choice.found == nil
	if choice.Check || choice.refused() {
		choice.Image = status.NodeImage
	}
	return choice
}

// keptDefault is the default image of a network that names none.
func keptDefault(network *v1alpha1.ShardNetwork, offered string) string {
	status := &network.Status
	switch {
	case status.DefaultNodeImage != "":
		return status.DefaultNodeImage
	case status.NodeImage != "" && status.ObservedGeneration == network.Generation:
		// An operator that kept no default made it with this one.
		return status.NodeImage
	default:
		return offered
	}
}

// refused says whether the wanted image has other formats than the nodes.
func (c *ImageChoice) refused() bool {
	return c.found != nil && c.found.Formats != nil && c.formats != nil && *c.found.Formats != *c.formats
}

// Awaiting is a network as its nodes are to be while the formats of the image that
// its spec names are being found out: as they are, so that what else changed with
// the image does not replace them twice. An update that has begun goes on without
// the image: nodes would be replaced to go back.
func Awaiting(network *v1alpha1.ShardNetwork, choice *ImageChoice) *v1alpha1.ShardNetwork {
	if !choice.Check || network.Status.Update != nil {
		return network
	}
	return replacing.AsBefore(network)
}

// Probe is the pod that finds out the formats of an image, as it was last seen.
type Probe struct {
	Name string
	// Pod is nil while there is none; Failed says why it could not be made.
	Pod    *corev1.Pod
	Failed error
}

// FormatsOf is what a probe found out. It is not done while its pod is on its way.
// An image that does not know the question, as those of earlier nodes, does not
// say.
func FormatsOf(pod *corev1.Pod) (formats *int32, done bool) {
	if pod.Status.Reason != "" {
		// Its machine took it away.
		return nil, false
	}
	for i := range pod.Status.ContainerStatuses {
		ended := pod.Status.ContainerStatuses[i].State.Terminated
		if ended == nil {
			continue
		}
		number, err := strconv.ParseInt(strings.TrimSpace(ended.Message), 10, 32)
		if ended.ExitCode != 0 || err != nil || number < 0 {
			return nil, true
		}
		found := int32(number)
		return &found, true
	}
	return nil, false
}

// ImageCompatible says whether nodes may be made with the image of the spec;
// probe is how finding it out goes.
func ImageCompatible(choice *ImageChoice, probe *Probe) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition.New(v1alpha1.ConditionImageCompatible, metav1.ConditionFalse, reason, message)
	}
	switch {
	case choice.refused() && choice.Image != choice.Wanted:
		return no(v1alpha1.ReasonFormatsDiffer, fmt.Sprintf(
			"the image %s has formats %d, and the network's nodes have formats %d: they would understand neither each other nor "+
				"the disks. The nodes stay with %s: set spec.node.image back to it, or make a new network with the other",
			choice.Wanted, *choice.found.Formats, *choice.formats, choice.Image))
	case choice.Check:
		return unchecked(choice, probe, no)
	}
	message := "nodes are made with " + choice.Image
	if choice.found != nil && choice.found.Formats == nil {
		message += ", which does not say its formats"
	}
	return condition.New(v1alpha1.ConditionImageCompatible, metav1.ConditionTrue, v1alpha1.ReasonImageInUse, message)
}

func unchecked(choice *ImageChoice, probe *Probe, no func(reason, message string) metav1.Condition) metav1.Condition {
	if probe.Failed != nil {
		return no(v1alpha1.ReasonImageUnchecked, fmt.Sprintf(
			"the formats of the image %s cannot be looked up: %s. The nodes stay as they are, with %s, until then",
			choice.Wanted, wording.Quote(probe.Failed.Error()), choice.Image))
	}
	words := ""
	if probe.Pod != nil {
		if waiting := diagnosis.WaitingForImage(probe.Pod); waiting != nil {
			return no(v1alpha1.ReasonImageUnavailable, fmt.Sprintf(
				"the image %s cannot be had: %s. The nodes stay as they are, with %s. Correct spec.node.image, or let the machines reach its registry",
				choice.Wanted, wording.Quote(diagnosis.ImageWords(waiting, nil)), choice.Image))
		}
		if scheduled := pods.Condition(probe.Pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
			words = ", which has no machine: " + wording.Quote(pods.SchedulerWords(scheduled.Message))
		}
	}
	return no(v1alpha1.ReasonImageUnchecked, fmt.Sprintf(
		"the formats of the image %s are looked up by the pod %s%s. The nodes stay as they are, with %s, until then",
		choice.Wanted, probe.Name, words, choice.Image))
}
