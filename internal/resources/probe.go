// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// NameImageProbe is the name, as in LabelName, of pods that ask an image for
	// its formats.
	NameImageProbe = "shardnode-formats"
	// LabelImageProbe is the network that an image is asked for. These pods do not
	// have LabelNetwork: nothing that is about a network's nodes is about them.
	LabelImageProbe = "shardyard.dev/image-probe"
)

// ImageProbeName is the pod that asks an image for its formats.
func ImageProbeName(network, image string) string { return network + "-formats-" + hash(image)[:8] }

// ImageProbeSelector selects the pods of a network that ask images.
func ImageProbeSelector(network string) map[string]string {
	return map[string]string{LabelName: NameImageProbe, LabelImageProbe: network}
}

// NewImageProbe runs an image once, where the network's nodes may run, to say
// which formats its nodes have: the pod's termination message.
func NewImageProbe(network *v1alpha1.ShardNetwork, image string) *corev1.Pod {
	meta := owned(network, ImageProbeName(network.Name, image))
	meta.Labels = ImageProbeSelector(network.Name)
	meta.Labels[LabelInstance], meta.Labels[LabelManagedBy] = network.Name, ManagedBy
	machineTypes := machineTypes(&network.Spec)
	selector := map[string]string{}
	var affinity *corev1.Affinity
	switch len(machineTypes) {
	case 0:
	case 1:
		selector[LabelMachineType] = machineTypes[0]
	default:
		affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: LabelMachineType, Operator: corev1.NodeSelectorOpIn, Values: machineTypes,
				}},
			}}},
		}}
	}
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:  ContainerName,
				Image: image,

				ImagePullPolicy: corev1.PullPolicy(network.Spec.Node.ImagePullPolicy),

				Args: []string{"formats", "--file", corev1.TerminationMessagePathDefault},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
					},
					Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
				},
				SecurityContext: restrictedContainer(),
			}},
			RestartPolicy:    corev1.RestartPolicyNever,
			ImagePullSecrets: pullSecrets(network),
			NodeSelector:     under(templateSpec(&network.Spec).NodeSelector, selector),
			Affinity:         affinity,
			Tolerations:      tolerations(&network.Spec, machineTypes...),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To[int64](nodeUser),
				RunAsGroup:     ptr.To[int64](nodeUser),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
		},
	}
}
