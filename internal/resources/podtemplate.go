// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// complete adds to a validator's pod what the network wants it to have besides.
// Where both set something, which the rules of the API refuse, ours holds: the
// network would not be one without it.
func complete(pod *corev1.PodTemplateSpec, network *v1alpha1.ShardNetwork) {
	template := network.Spec.PodTemplate
	if template == nil {
		return
	}
	if wanted := template.Metadata; wanted != nil {
		pod.Labels = under(wanted.Labels, pod.Labels)
		pod.Annotations = under(wanted.Annotations, pod.Annotations)
	}
	if wanted := template.Spec; wanted != nil {
		pod.Spec.ImagePullSecrets = pullSecrets(network)
		pod.Spec.NodeSelector = under(wanted.NodeSelector, pod.Spec.NodeSelector)
		pod.Spec.PriorityClassName = wanted.PriorityClassName
		if wanted.RuntimeClassName != "" {
			pod.Spec.RuntimeClassName = ptr.To(wanted.RuntimeClassName)
		}
		pod.Spec.SchedulerName = wanted.SchedulerName
		pod.Spec.TopologySpreadConstraints = spread(network.Name, wanted.TopologySpreadConstraints)
	}
}

// under is what somebody wants, with ours over it.
func under[V ~string](wanted map[string]V, ours map[string]string) map[string]string {
	both := make(map[string]string, len(wanted)+len(ours))
	for key, value := range wanted {
		both[key] = string(value)
	}
	maps.Copy(both, ours)
	return both
}

// templateSpec is what a network wants of its pods' specs; without anything, an
// empty one.
func templateSpec(spec *v1alpha1.ShardNetworkSpec) *v1alpha1.PodTemplateSpec {
	if spec.PodTemplate == nil || spec.PodTemplate.Spec == nil {
		return &v1alpha1.PodTemplateSpec{}
	}
	return spec.PodTemplate.Spec
}

// pullSecrets are the Secrets by which a network's images are pulled.
func pullSecrets(network *v1alpha1.ShardNetwork) []corev1.LocalObjectReference {
	var secrets []corev1.LocalObjectReference
	for _, secret := range templateSpec(&network.Spec).ImagePullSecrets {
		secrets = append(secrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	return secrets
}

// Tolerations are those that a spec names, as pods have them.
func Tolerations(named []v1alpha1.Toleration) []corev1.Toleration {
	var found []corev1.Toleration
	for _, wanted := range named {
		found = append(found, corev1.Toleration{
			Key:               wanted.Key,
			Operator:          corev1.TolerationOperator(wanted.Operator),
			Value:             string(wanted.Value),
			Effect:            corev1.TaintEffect(wanted.Effect),
			TolerationSeconds: wanted.TolerationSeconds,
		})
	}
	return found
}

// spread are constraints that count the pods of the network.
func spread(network string, constraints []v1alpha1.TopologySpreadConstraint) []corev1.TopologySpreadConstraint {
	var found []corev1.TopologySpreadConstraint
	for _, wanted := range constraints {
		found = append(found, corev1.TopologySpreadConstraint{
			TopologyKey:       wanted.TopologyKey,
			MaxSkew:           wanted.MaxSkew,
			WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(wanted.WhenUnsatisfiable),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: networkSelector(network)},
			MatchLabelKeys:    wanted.MatchLabelKeys,
		})
	}
	return found
}
