// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// nextTag is that of the same images under another name.
const nextTag = "next"

// handOver upgrades the operator, whose image is the agents', and rolls it
// back, under a network that needs the tuning. Meanwhile no setting leaves its
// value, and the network is never less than ready.
func (n *nodeTuning) handOver(t *testing.T, running *network) {
	t.Helper()
	running.waitFor(t, v1alpha1.ConditionReady, "True", v1alpha1.ReasonRunning)
	kernel, states := n.watchKernel(t, takingMachine), running.watchReady(t)
	n.helm.mustRun(t, "upgrade", "shardyard", operatorChart, "--namespace", operatorNamespace, "--reuse-values",
		"--set", "image.tag="+nextTag, "--wait", "--timeout", patience.String())
	n.waitForAgent(t, "shardyard/operator:"+nextTag)
	n.helm.mustRun(t, "rollback", "shardyard", "--namespace", operatorNamespace, "--wait", "--timeout", patience.String())
	n.waitForAgent(t, "shardyard/operator:dev")
	kernel()
	states()
}

// waitForAgent waits until the agent is of an image and has the machine.
func (n *nodeTuning) waitForAgent(t *testing.T, image string) {
	t.Helper()
	eventually(t, "an agent of "+image, func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := n.List(ctx, pods, client.InNamespace(tuningNamespace), client.MatchingLabels(resources.TuningSelector(n.name))); err != nil {
			return err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; ready(pod) && pod.Spec.Containers[0].Image == image {
				return nil
			}
		}
		return fmt.Errorf("there are %d agents, none of which is ready and of that image", len(pods.Items))
	})
}

// watchKernel reads a machine's values again and again, until the result is
// called: they are always the same.
func (n *nodeTuning) watchKernel(t *testing.T, machine string) (check func()) {
	t.Helper()
	want := readMachine(t, machine)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	var looks int
	var violation error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			got, err := lookAtKernel(ctx, machine)
			if ctx.Err() != nil {
				return
			}
			if err == nil && !maps.Equal(got, want) {
				err = fmt.Errorf("the kernel of %s says %q, want %q", machine, got, want)
			}
			if err != nil {
				violation = err
				return
			}
			looks++
		}
	}()
	return func() {
		t.Helper()
		stop()
		<-ended
		t.Logf("looked at the kernel of %s %d times", machine, looks)
		if violation != nil || looks == 0 {
			t.Errorf("after %d looks: %v", looks, violation)
		}
	}
}

// watchReady watches the network until the result is called: it is always ready.
func (n *network) watchReady(t *testing.T) (check func()) {
	t.Helper()
	events, err := n.Watch(t.Context(), &v1alpha1.ShardNetworkList{}, client.InNamespace(n.namespace),
		client.MatchingFields{"metadata.name": n.name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(events.Stop)
	var stopping atomic.Bool
	var violation error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range events.ResultChan() {
			live, ok := event.Object.(*v1alpha1.ShardNetwork)
			if !ok || event.Type == watch.Deleted {
				if !stopping.Load() {
					violation = fmt.Errorf("the watch ended: %v", event.Object)
				}
				return
			}
			if !meta.IsStatusConditionTrue(live.Status.Conditions, v1alpha1.ConditionReady) {
				violation = fmt.Errorf("the network is not ready: %+v", live.Status.Conditions)
			}
		}
	}()
	return func() {
		t.Helper()
		stopping.Store(true)
		events.Stop()
		<-ended
		if violation != nil {
			t.Error(violation)
		}
	}
}

// deselect has the spec select no machine, and waits until those it had are put
// back.
func (n *nodeTuning) deselect(t *testing.T) {
	t.Helper()
	live, err := n.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := live.DeepCopy()
	live.Spec.NodeSelector = map[string]v1alpha1.LabelValue{corev1.LabelHostname: "none"}
	if err := n.Patch(t.Context(), live, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the list of machines", func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		if len(live.Status.Machines) > 0 {
			return fmt.Errorf("the machines are %+v: %+v", live.Status.Machines, live.Status.Conditions)
		}
		return nil
	})
	n.waitFor(t, v1alpha1.ConditionReady, "False", v1alpha1.ReasonNoMachines)
}
