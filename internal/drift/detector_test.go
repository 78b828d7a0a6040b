// SPDX-License-Identifier: Apache-2.0

package drift_test

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/drift"
)

const (
	manager  = "operator"
	somebody = "somebody"
)

// wantedSet has lists of both sorts: one value each, such as tolerations, and
// items with a key, such as containers.
func wantedSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "a", Labels: map[string]string{"app": "a"},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"type": "large"},
					Tolerations:  []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
					Containers: []corev1.Container{{
						Name: "node", Image: "node:1", Args: []string{"run"},
						Ports:        []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
						VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
					}},
					Volumes: []corev1.Volume{{
						Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
					}},
				},
			},
		},
	}
}

func TestUpToDate(t *testing.T) {
	t.Parallel()
	pod := func(set *appsv1.StatefulSet) *corev1.PodSpec { return &set.Spec.Template.Spec }
	cases := map[string]struct {
		// change is made by somebody, or, without a name, by the cluster itself when
		// the set was applied.
		as     string
		change func(*appsv1.StatefulSet)
		want   bool
	}{
		"as it was applied": {want: true},
		"defaults": {
			change: func(set *appsv1.StatefulSet) {
				set.Spec.RevisionHistoryLimit = ptr.To[int32](10)
				pod(set).Containers[0].TerminationMessagePath = "/dev/termination-log"
				pod(set).Tolerations[0].Effect = corev1.TaintEffectNoSchedule
			},
			want: true,
		},
		"a status": {
			as:     somebody,
			change: func(set *appsv1.StatefulSet) { set.Status.Replicas = 1 },
			want:   true,
		},
		"somebody adds what has a key": {
			as: somebody,
			change: func(set *appsv1.StatefulSet) {
				set.Labels["team"] = "x"
				pod(set).Containers = append(pod(set).Containers, corev1.Container{Name: "sidecar", Image: "sidecar:1"})
				pod(set).Containers[0].Env = []corev1.EnvVar{{Name: "ZONE", Value: "a"}}
			},
			want: true,
		},
		"somebody adds to what is one value": {
			as: somebody,
			change: func(set *appsv1.StatefulSet) {
				pod(set).Tolerations = append(pod(set).Tolerations, corev1.Toleration{Key: "spot"})
			},
		},
		"somebody changes a value":   {as: somebody, change: func(set *appsv1.StatefulSet) { pod(set).Containers[0].Image = "other:1" }},
		"somebody scales":            {as: somebody, change: func(set *appsv1.StatefulSet) { set.Spec.Replicas = ptr.To[int32](0) }},
		"somebody takes a field":     {as: somebody, change: func(set *appsv1.StatefulSet) { delete(pod(set).NodeSelector, "type") }},
		"somebody takes an item":     {as: somebody, change: func(set *appsv1.StatefulSet) { pod(set).Containers[0].VolumeMounts = nil }},
		"somebody takes all fields":  {as: somebody, change: func(set *appsv1.StatefulSet) { pod(set).NodeSelector = nil }},
		"somebody takes the hash":    {as: somebody, change: func(set *appsv1.StatefulSet) { set.Annotations = nil }},
		"admission appends an item":  {change: appendItems, want: true},
		"admission changes a value":  {change: func(set *appsv1.StatefulSet) { pod(set).Containers[0].Image = "mirror/node:1" }, want: true},
		"admission takes all fields": {change: func(set *appsv1.StatefulSet) { pod(set).NodeSelector = nil }, want: true},
		"nobody knows who owns what": {
			change: func(set *appsv1.StatefulSet) { set.ManagedFields = nil },
			want:   true,
		},
		"nobody knows who changed a value": {
			change: func(set *appsv1.StatefulSet) {
				set.ManagedFields = nil
				pod(set).Containers[0].Image = "other:1"
			},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted, err := drift.Prepare(wantedSet())
			if err != nil {
				t.Fatal(err)
			}
			server := newServer(applyconfigurations.NewTypeConverter(scheme.Scheme), wanted.GroupVersionKind())
			server.apply(t, wanted)
			if test.change != nil {
				server.writeObject(t, test.as, func(content map[string]any) { changeSet(t, content, test.change) })
			}
			live := readSet(t, server.content(t))
			// The cache does not say what it is.
			live.TypeMeta = metav1.TypeMeta{}
			got, err := drift.NewDetector(scheme.Scheme, manager).UpToDate(wanted, live)
			if err != nil || got != test.want {
				t.Errorf("it is up to date: %v (%v), want %v", got, err, test.want)
			}
		})
	}
}

// Of a kind that the scheme does not know, every list is one value.
func TestUpToDateOfUnknownKind(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"namespace": "default", "name": "a"},
		"spec": map[string]any{"endpoints": []any{map[string]any{"port": "http"}}},
	}}
	for name, test := range map[string]struct {
		as   string
		want bool
	}{
		"a default in an item":  {"", true},
		"somebody else's field": {somebody, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted, err := drift.Prepare(object)
			if err != nil {
				t.Fatal(err)
			}
			server := newServer(managedfields.NewDeducedTypeConverter(), wanted.GroupVersionKind())
			server.apply(t, wanted)
			server.writeObject(t, test.as, func(content map[string]any) {
				endpoints := content["spec"].(map[string]any)["endpoints"].([]any)
				endpoints[0].(map[string]any)["scheme"] = "http"
			})
			live := &unstructured.Unstructured{Object: server.content(t)}
			got, err := drift.NewDetector(scheme.Scheme, manager).UpToDate(wanted, live)
			if err != nil || got != test.want {
				t.Errorf("it is up to date: %v (%v), want %v", got, err, test.want)
			}
		})
	}
}

func readSet(t *testing.T, content map[string]any) *appsv1.StatefulSet {
	t.Helper()
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, set); err != nil {
		t.Fatal(err)
	}
	return set
}

// changeSet changes the content of a set.
func changeSet(t *testing.T, content map[string]any, change func(*appsv1.StatefulSet)) {
	t.Helper()
	set := readSet(t, content)
	change(set)
	changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		t.Fatal(err)
	}
	clear(content)
	maps.Copy(content, changed)
}

// appendItems is what mutators of pods do.
func appendItems(set *appsv1.StatefulSet) {
	pod := &set.Spec.Template.Spec
	pod.Tolerations = append(pod.Tolerations, corev1.Toleration{Key: "spot"})
	pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar", Image: "sidecar:1"})
	pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: "ZONE", Value: "a"})
	pod.Containers[0].Args = append(pod.Containers[0].Args, "--zone")
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "certificates"})
}

// server keeps track of who owns what of one object, as an API server does.
type server struct {
	fields managedfieldstest.TestFieldManager
	// admitted is the object after admission, which nobody's fields tell of.
	admitted map[string]any
}

func newServer(types managedfields.TypeConverter, kind schema.GroupVersionKind) *server {
	return &server{fields: managedfieldstest.NewTestFieldManager(types, kind)}
}

func (s *server) apply(t *testing.T, wanted *unstructured.Unstructured) {
	t.Helper()
	if err := s.fields.Apply(wanted.DeepCopy(), manager, true); err != nil {
		t.Fatal(err)
	}
}

// content is the object with its managed fields.
func (s *server) content(t *testing.T) map[string]any {
	t.Helper()
	if s.admitted != nil {
		return s.admitted
	}
	live := s.fields.Live().(*unstructured.Unstructured)
	live.SetManagedFields(s.fields.ManagedFields())
	return live.Object
}

// writeObject changes the object: as somebody, or, without a name, as admission
// does.
func (s *server) writeObject(t *testing.T, as string, change func(map[string]any)) {
	t.Helper()
	content := s.content(t)
	change(content)
	if as == "" {
		s.admitted = content
		return
	}
	if err := s.fields.Update(&unstructured.Unstructured{Object: content}, as); err != nil {
		t.Fatal(err)
	}
}
