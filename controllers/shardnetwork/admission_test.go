// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// mutations are what admission control of many a cluster does to pods: of lists
// whose items have a key, of lists that are one value, and of a value.
const mutations = `
	(variables.pod.tolerations.exists(t, t.key == "spot") ? [] : [JSONPatch{
		op: "add", path: "/spec/template/spec/tolerations/-", value: Object.spec.template.spec.tolerations{key: "spot"}}]) +
	(variables.pod.containers.exists(c, c.name == "sidecar") ? [] : [JSONPatch{
		op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{
			name: "sidecar", image: "sidecar:1"}}]) +
	(variables.pod.volumes.exists(v, v.name == "certificates") ? [] : [JSONPatch{
		op: "add", path: "/spec/template/spec/volumes/-", value: Object.spec.template.spec.volumes{
			name: "certificates", emptyDir: Object.spec.template.spec.volumes.emptyDir{}}}]) +
	(variables.node.volumeMounts.exists(m, m.name == "certificates") ? [] : [JSONPatch{
		op: "add", path: "/spec/template/spec/containers/0/volumeMounts/-",
		value: Object.spec.template.spec.containers.volumeMounts{name: "certificates", mountPath: "/certificates"}}]) +
	(variables.node.args.exists(a, a == "--zone") ? [] : [JSONPatch{
		op: "add", path: "/spec/template/spec/containers/0/args/-", value: "--zone"}]) +
	(variables.node.image.startsWith("mirror.example/") ? [] : [JSONPatch{
		op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example/" + variables.node.image}])`

// A cluster that makes something else of what is applied is not asked for it
// again and again, and what somebody changes is put right all the same.
func TestAdmissionMutates(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	cluster.mutateStatefulSets()
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Placement.MachineType = "c4d-highmem-16"
	})
	cluster.mustReconcile(network)
	const image = "mirror.example/shardnode:test"
	if got := cluster.image("quickstart-s0-p0"); got != image {
		t.Fatalf("admission control does nothing: the image is %s", got)
	}

	writes := cluster.writes.Load()
	for range 3 {
		cluster.mustReconcile(network)
	}
	if again := cluster.writes.Load() - writes; again > 0 {
		t.Errorf("the operator writes %d times although nothing changed", again)
	}
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	// An operator that starts anew finds all as it should be.
	cluster.restart()
	cluster.mustReconcile(network)
	if again := cluster.writes.Load() - writes; again > 0 {
		t.Errorf("an operator that starts anew writes %d times", again)
	}

	for name, change := range map[string]func(*corev1.PodSpec){
		"the image":       func(pod *corev1.PodSpec) { pod.Containers[0].Image = "other:1" },
		"the tolerations": func(pod *corev1.PodSpec) { pod.Tolerations[0].Key = "other" },
		"a port":          func(pod *corev1.PodSpec) { pod.Containers[0].Ports = pod.Containers[0].Ports[:1] },
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-s0-p0"}}
		cluster.read(set)
		before := set.Spec.DeepCopy()
		change(&set.Spec.Template.Spec)
		if err := cluster.client.Update(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		cluster.mustReconcile(network)
		cluster.read(set)
		if !equality.Semantic.DeepEqual(&set.Spec, before) {
			t.Errorf("%s of somebody else leaves\n%+v\nwant\n%+v", name, set.Spec, before)
		}
	}
}

// mutateStatefulSets has the API server change the StatefulSets of the namespace
// as they are written.
func (c *cluster) mutateStatefulSets() {
	c.t.Helper()
	name := c.namespace
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{
							admissionregistrationv1.Create, admissionregistrationv1.Update,
						},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets"},
						},
					},
				}},
			},
			Variables: []admissionregistrationv1.Variable{
				{Name: "pod", Expression: "object.spec.template.spec"},
				{Name: "node", Expression: "object.spec.template.spec.containers[0]"},
			},
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: mutations},
			}},
		},
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{
			PolicyName: name,
			MatchResources: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.namespace}},
			},
		},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := c.client.Create(c.t.Context(), object); err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() {
			if err := c.client.Delete(context.Background(), object); err != nil {
				c.t.Error(err)
			}
		})
	}
	c.awaitMutations()
}

// awaitMutations waits until the API server has taken up a policy.
func (c *cluster) awaitMutations() {
	c.t.Helper()
	labels := map[string]string{"app": "probe"}
	err := wait.PollUntilContextTimeout(c.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "probe"},
			Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{
						Containers: []corev1.Container{{
							Name: "probe", Image: "probe:1", Args: []string{"run"},
							VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
						}},
						Tolerations: []corev1.Toleration{{Key: "dedicated"}},
						Volumes:     []corev1.Volume{{Name: "data"}},
					},
				},
			},
		}
		if err := c.client.Create(ctx, probe, client.DryRunAll); err != nil {
			return false, err
		}
		return len(probe.Spec.Template.Spec.Containers) > 1, nil
	})
	if err != nil {
		c.t.Fatal(errors.Join(errors.New("the API server does not take up the policy"), err))
	}
}
