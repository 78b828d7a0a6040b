// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/deaths"
)

// byUsers has users send the load, to one rpc node.
func byUsers(spec *v1alpha1.BenchmarkSpec) {
	spec.Network.Template.Spec.RPCNodes, spec.Network.Template.Spec.Regions[0].Nodes = 1, 2
	spec.Load = v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileOpenLoop, OpenLoop: &v1alpha1.OpenLoopLoad{
		EveryMilliseconds: 1000, Steps: []v1alpha1.OpenLoopStep{{Users: 2}, {Users: 5}},
	}}
}

// sendByUsers has the recorder of a run do what it does where users send its load: it
// needs nobody to begin that.
func (c *cluster) sendByUsers() {
	c.t.Helper()
	c.act()
	pods := &corev1.PodList{}
	c.must(c.client.List(c.t.Context(), pods, client.InNamespace(c.benchmark.Namespace), client.HasLabels{resources.LabelRun}))
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Labels[resources.LabelName] == resources.NameRecorder && pod.Status.Phase == corev1.PodRunning {
			c.sayRecorded(pod)
		}
	}
}

// The recorder has users send the load of each run, beside it, and nobody tells the
// network one. An operator that is killed before, and after, each of its writes has it
// come to the same.
func TestUsersOfRunsOfKilledOperators(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
		byUsers(spec)
		spec.Repetitions = 2
	})
	killer := &deaths.Deaths{}
	mortal := killer.Client(t, apiServer, scheme)
	for range 2 * maxSteps {
		if c.ended() {
			break
		}
		c.sendByUsers()
		killer.Revive()
		reconciler := &Reconciler{
			client: mortal, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
		}
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
		if err != nil && !errors.Is(err, deaths.ErrKilled) {
			t.Fatal(err)
		}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if len(c.networks) != 0 || len(c.recorders) != 2 {
		t.Errorf("%d networks were told a load, and %d recorders ran, want none and 2", len(c.networks), len(c.recorders))
	}
}

// The loader is of the image of the network's nodes.
func TestTheImageOfLoaders(t *testing.T) {
	t.Parallel()
	c := newCluster(t, byUsers)
	c.until("the recorder", func() bool { return c.pod("bench-recorder-1") != nil })
	pod := c.pod("bench-recorder-1")
	loader := pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1]
	if loader.Name != resources.ContainerLoader || loader.Image != "shardnode:test" {
		t.Errorf("the loader is %+v", loader)
	}
}

// A loader that ends in the middle breaks its run, whatever the recorder says of it
// afterwards: what its users had sent by then is no figure.
func TestALoaderThatEnds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, byUsers)
	c.until("the recorder runs", func() bool {
		pod := c.pod("bench-recorder-1")
		return pod != nil && pod.Status.Phase == corev1.PodRunning && c.status().Runs[0].RecorderUID != ""
	})
	pod := c.pod("bench-recorder-1")
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: resources.ContainerLoader, Image: "shardnode:test", ImageID: "test", RestartCount: 1,
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "OOMKilled", Message: "7 s: offered 70\n",
		}},
	}}
	c.must(c.client.Status().Update(t.Context(), pod))
	c.reconcile()
	c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken,
		"run 1 does not count: its loader ended in the middle: exit code 137, OOMKilled: 7 s: offered 70")
	if c.pod("bench-recorder-1") != nil {
		t.Error("its recorder is left, which would go on")
	}
}
