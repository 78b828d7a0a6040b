// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// operator is a Deployment as a chart makes it.
func operator(namespace, name string, arguments ...string) *appsv1.Deployment {
	labels := map[string]string{resources.LabelName: name, labelComponent: "operator"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "image", Args: arguments}}},
			},
		},
	}
}

// The operator that a cluster has says which images it has, if it is one.
func TestFindImages(t *testing.T) {
	y := newYard(t, "")
	find := func(want string) Images {
		t.Helper()
		images, err := FindImages(t.Context(), y.client)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		return images
	}
	y.must(y.client.Create(t.Context(), operator(y.namespace, "something", "--node-image=node:1")))
	find("name the operator's image with --image: no Deployment of the cluster is labelled app.kubernetes.io/component=operator")
	y.must(y.client.Create(t.Context(), operator(y.namespace, "first", "--node-image=node:1", "--recorder-image=operator:1")))
	if got, want := find(""), (Images{Operator: "operator:1", Node: "node:1"}); got != want {
		t.Errorf("the images are %+v, want %+v", got, want)
	}
	y.must(y.client.Create(t.Context(), operator(y.namespace, "second", "--node-image=node:1", "--recorder-image=operator:2")))
	find("name the operator's image with --image: the cluster has several operators")
	y.must(y.client.DeleteAllOf(t.Context(), &appsv1.Deployment{}, client.InNamespace(y.namespace)))
}

// An API server takes the pods that disks are restored by, whatever machines they avoid.
func TestPodsThatAvoidMachines(t *testing.T) {
	y := newYard(t, "s3://kept/net")
	network, err := manifest.Parse([]byte(networkManifest))
	y.must(err)
	plan, err := topology.New(network)
	y.must(err)
	run, err := begin(t.Context(), &y.options)
	y.must(err)
	for _, exclusivity := range []v1alpha1.Exclusivity{v1alpha1.Shared, v1alpha1.OneValidatorPerMachine} {
		network.Spec.Placement.Exclusivity = exclusivity
		pod := run.NewNodeRestorer(network, plan.Nodes[0], map[string]int{"one": 1, "two": 2})
		y.must(y.client.Create(t.Context(), pod, client.DryRunAll))
	}
	y.must(run.end(t.Context()))
}
