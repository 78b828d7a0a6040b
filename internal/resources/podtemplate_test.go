// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// What a network wants of its pods is added, and nothing of what makes them
// validators is lost.
func TestPodTemplateIsAdded(t *testing.T) {
	t.Parallel()
	before := quickstart(t).statefulSets(t)
	for name, test := range map[string]struct {
		metadata v1alpha1.PodTemplateMetadata
		spec     v1alpha1.PodTemplateSpec
		// want is what the first validator's pod is to have besides.
		want func(*corev1.PodTemplateSpec)
	}{
		"labels": {
			metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]v1alpha1.LabelValue{"team": "chain"}},
			want:     func(pod *corev1.PodTemplateSpec) { pod.Labels["team"] = "chain" },
		},
		"annotations": {
			metadata: v1alpha1.PodTemplateMetadata{Annotations: map[string]v1alpha1.AnnotationValue{"log": "json"}},
			want:     func(pod *corev1.PodTemplateSpec) { pod.Annotations["log"] = "json" },
		},
		"pull secrets": {
			spec: v1alpha1.PodTemplateSpec{ImagePullSecrets: []v1alpha1.ImagePullSecret{{Name: "a"}, {Name: "b"}}},
			want: func(pod *corev1.PodTemplateSpec) {
				pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}
			},
		},
		"node selector": {
			spec: v1alpha1.PodTemplateSpec{NodeSelector: map[string]v1alpha1.LabelValue{"disk": "fast"}},
			want: func(pod *corev1.PodTemplateSpec) { pod.Spec.NodeSelector["disk"] = "fast" },
		},
		"tolerations": {
			spec: v1alpha1.PodTemplateSpec{Tolerations: []v1alpha1.Toleration{
				{Key: "a", Operator: v1alpha1.TolerationEqual, Value: "b", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](5)},
				{Operator: v1alpha1.TolerationExists},
			}},
			want: func(pod *corev1.PodTemplateSpec) {
				pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
					Key: "a", Operator: corev1.TolerationOpEqual, Value: "b", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](5),
				}, corev1.Toleration{Operator: corev1.TolerationOpExists})
			},
		},
		"classes": {
			spec: v1alpha1.PodTemplateSpec{PriorityClassName: "high", RuntimeClassName: "runc", SchedulerName: "own"},
			want: func(pod *corev1.PodTemplateSpec) {
				pod.Spec.PriorityClassName, pod.Spec.RuntimeClassName, pod.Spec.SchedulerName = "high", ptr.To("runc"), "own"
			},
		},
		"spread": {
			spec: v1alpha1.PodTemplateSpec{TopologySpreadConstraints: []v1alpha1.TopologySpreadConstraint{{
				TopologyKey: "zone", MaxSkew: 2, WhenUnsatisfiable: "DoNotSchedule", MatchLabelKeys: []string{resources.LabelShard},
			}}},
			want: func(pod *corev1.PodTemplateSpec) {
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					TopologyKey: "zone", MaxSkew: 2, WhenUnsatisfiable: corev1.DoNotSchedule, MatchLabelKeys: []string{resources.LabelShard},
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
						resources.LabelName: resources.Name, resources.LabelNetwork: "quickstart",
					}},
				}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := quickstart(t)
			fixture.network.Spec.PodTemplate = &v1alpha1.PodTemplate{Metadata: &test.metadata, Spec: &test.spec}
			for i, set := range fixture.statefulSets(t) {
				want := before[i].Spec.Template.DeepCopy()
				test.want(want)
				if !reflect.DeepEqual(&set.Spec.Template, want) {
					t.Errorf("the pod of %s is\n%+v\nwant\n%+v", set.Name, set.Spec.Template, *want)
				}
			}
		})
	}
}

// Where a template says what is not its to say, which the API refuses, a pod is
// still the validator's, on its machine.
func TestPodTemplateReplacesNothing(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	before := fixture.statefulSets(t)
	template := fixture.network.Spec.PodTemplate
	for _, set := range before {
		for key := range set.Spec.Template.Labels {
			template.Metadata.Labels[key] = "mine"
		}
		for key := range set.Spec.Template.Annotations {
			template.Metadata.Annotations[key] = "mine"
		}
		for key := range set.Spec.Template.Spec.NodeSelector {
			template.Spec.NodeSelector[key] = "mine"
		}
	}
	template.Metadata.Labels["team"], template.Metadata.Annotations["example.com/owner"] = "chain", "somebody"
	template.Spec.NodeSelector["disk"] = "fast"
	for i, set := range fixture.statefulSets(t) {
		own := resources.ValidatorLabels(fixture.network.Name, fixture.plan.Nodes[i])
		for key := range own {
			if set.Spec.Template.Labels[key] != before[i].Spec.Template.Labels[key] {
				t.Errorf("%s: the label %s of the pod is %s", set.Name, key, set.Spec.Template.Labels[key])
			}
		}
		if got, want := set.Spec.Template.Spec.NodeSelector, before[i].Spec.Template.Spec.NodeSelector; !maps.Equal(got, want) {
			t.Errorf("%s needs a machine with %v, want %v", set.Name, got, want)
		}
		if got, want := set.Spec.Template.Annotations, before[i].Spec.Template.Annotations; !maps.Equal(got, want) {
			t.Errorf("%s has the annotations %v, want %v", set.Name, got, want)
		}
	}
}

// The pod that asks an image gets at it where validators do, by the same Secrets.
func TestProbesFollowThePodTemplate(t *testing.T) {
	t.Parallel()
	network := everything(t).network
	probe, pod := resources.NewImageProbe(network, "shardnode:next").Spec, everything(t).statefulSets(t)[0].Spec.Template.Spec
	if !slices.Equal(probe.ImagePullSecrets, pod.ImagePullSecrets) || len(probe.ImagePullSecrets) != 1 {
		t.Errorf("the pull secrets are %v, want %v", probe.ImagePullSecrets, pod.ImagePullSecrets)
	}
	if !reflect.DeepEqual(probe.Tolerations, pod.Tolerations) {
		t.Errorf("the tolerations are %v, want %v", probe.Tolerations, pod.Tolerations)
	}
	if probe.NodeSelector["disk"] != "fast" || probe.Containers[0].ImagePullPolicy != corev1.PullAlways {
		t.Errorf("it needs a machine with %v and pulls its image %s", probe.NodeSelector, probe.Containers[0].ImagePullPolicy)
	}
}

// What selects validators selects those of a template as well: the labels that are
// theirs stay.
func TestPodTemplateKeepsSelectors(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	for i, set := range only[*appsv1.StatefulSet](fixture.build(t)) {
		selector, err := metav1.LabelSelectorAsMap(set.Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range selector {
			if set.Spec.Template.Labels[key] != value {
				t.Errorf("%s does not select its pod by %s", set.Name, key)
			}
		}
		if role := set.Spec.Template.Labels[resources.LabelRole]; topology.Role(role) != fixture.plan.Nodes[i].Role {
			t.Errorf("%s has the role %s", set.Name, role)
		}
	}
}
