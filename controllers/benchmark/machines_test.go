// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/resources"
)

// addMachine adds a machine to the cluster, which several tests share.
func (c *cluster) addMachine(name, kind, memory string) *corev1.Node {
	c.t.Helper()
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: c.benchmark.Namespace + "-" + name, Labels: map[string]string{corev1.LabelInstanceTypeStable: kind},
	}}
	c.must(c.client.Create(c.t.Context(), machine))
	machine.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse(memory),
	}
	machine.Status.NodeInfo = corev1.NodeSystemInfo{
		OperatingSystem: "linux", Architecture: "amd64", KernelVersion: "6.1.0", OSImage: "An OS ($1)",
	}
	c.must(c.client.Status().Update(c.t.Context(), machine))
	return machine
}

// runOn has a node of the network run on a machine.
func (c *cluster) runOn(name string, machine *corev1.Node) {
	c.t.Helper()
	c.must(c.client.Create(c.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.benchmark.Namespace, Name: name, Labels: resources.NetworkLabels(c.benchmark.Name)},
		Spec: corev1.PodSpec{
			NodeName:   machine.Name,
			Containers: []corev1.Container{{Name: resources.ContainerName, Image: "shardnode"}},
		},
	}))
}

// A recorder is told what the machines of its network are, and not what else there is.
func TestTheMachinesOfARun(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	large, same, small := c.addMachine("a", "c4", "129Gi"), c.addMachine("b", "c4", "135266500Ki"), c.addMachine("c", "e2", "4Gi")
	c.addMachine("unused", "n2", "8Gi")
	c.runOn("bench-s0-p0", large)
	c.runOn("bench-v0", large)
	c.runOn("bench-v1", same)
	c.runOn("bench-v2", small)
	var recorder *corev1.Pod
	for range maxSteps {
		if recorder = c.pod("bench-recorder-1"); recorder != nil {
			break
		}
		c.act()
		c.reconcile()
	}
	if recorder == nil {
		t.Fatal("there is no recorder")
	}
	const of = `"os":"linux","architecture":"amd64","kernel":"6.1.0","system":"An OS ($$1)","cpus":16,"memoryBytes":`
	want := `--machines=[{"count":2,"type":"c4",` + of + `138512695296},{"count":1,"type":"e2",` + of + `4294967296}]`
	if args := recorder.Spec.Containers[0].Args; !slices.Contains(args, want) {
		t.Errorf("the recorder is told\n%s, want\n%s", strings.Join(args, "\n"), want)
	}
}

// Nodes that are nowhere say nothing of machines.
func TestMachinesThatAreNotTold(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.runNode("bench-s0-p0", "shardnode@sha256:1")
	for range maxSteps {
		if c.pod("bench-recorder-1") != nil {
			break
		}
		c.act()
		c.reconcile()
	}
	for _, argument := range c.pod("bench-recorder-1").Spec.Containers[0].Args {
		if strings.HasPrefix(argument, "--machines") {
			t.Errorf("the recorder is told %s of nodes that are on no machine", argument)
		}
	}
}
