// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// testDrains drains the machines of both producers of a shard, each in its own
// cluster. The first drain comes to its end; the second waits until the first
// validator is back, whose disk is part of its machine.
func (n *spanningNetwork) testDrains(t *testing.T) {
	validators := n.plan(t).Nodes
	first := validators[0]
	twin := validators[slices.IndexFunc(validators, func(other topology.Validator) bool {
		return other.Shard == first.Shard && other.Slot != first.Slot
	})]
	if first.Cluster == twin.Cluster {
		t.Fatalf("%s and %s are in the same cluster", first.Name, twin.Name)
	}
	firstMachine, twinMachine := n.machineOf(t, first), n.machineOf(t, twin)

	if err := firstMachine.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.waitFor(t, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonVolumeUnreachable)
	n.goesOn(t)

	before := n.podOf(t, twin).UID
	drained := make(chan error, 1)
	go func() { drained <- twinMachine.drain(t.Context()) }()
	waiting := n.waitFor(t, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
	t.Log(waiting.Message)
	n.goesOn(t)
	if pod := n.podOf(t, twin); pod.UID != before || !ready(pod) {
		t.Errorf("%s does not wait for %s", twin.Name, first.Name)
	}

	firstMachine.uncordon(t)
	eventually(t, "the second drain", func(context.Context) error {
		// What is looked at first was so when the other was still there.
		back := ready(n.podOf(t, first))
		if pod := n.podOf(t, twin); (pod.UID != before || pod.DeletionTimestamp != nil) && !back {
			t.Fatalf("%s goes before %s is back", twin.Name, first.Name)
		}
		select {
		case err := <-drained:
			if err != nil {
				t.Fatal(err)
			}
			return nil
		default:
			return errors.New("it goes on")
		}
	})
	n.goesOn(t)
	twinMachine.uncordon(t)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	n.testOneChain(t)
}

// testDrainOfHaltedChain drains every machine while the chain stands still,
// because half of its validators hang. Nobody goes, and it goes on as it was.
func (n *spanningNetwork) testDrainOfHaltedChain(t *testing.T) {
	validators, before := n.plan(t).Nodes, n.allPods(t)
	var hanging []frozen
	for _, validator := range validators {
		if validator.Slot == 0 {
			hanging = append(hanging, freeze(t, n.podOf(t, validator)))
		}
	}
	n.waitFor(t, v1alpha1.ConditionProducing, metav1.ConditionFalse, v1alpha1.ReasonChainStalled)
	for _, validator := range validators {
		n.machineOf(t, validator).cordon(t)
	}
	waiting := n.waitFor(t, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
	if !strings.Contains(waiting.Message, "while the chain stands still") {
		t.Errorf("the message is %q", waiting.Message)
	}
	for _, validator := range validators {
		err := n.holder(validator.Cluster).SubResource("eviction").Create(t.Context(), n.podOf(t, validator), &policyv1.Eviction{})
		if !apierrors.IsTooManyRequests(err) {
			t.Errorf("an eviction of %s ends with %v, want that there are too many", validator.Name, err)
		}
	}

	for _, one := range hanging {
		one.thaw(t)
	}
	for _, validator := range validators {
		n.machineOf(t, validator).uncordon(t)
	}
	n.waitFor(t, v1alpha1.ConditionMachinesKept, metav1.ConditionTrue, v1alpha1.ReasonNothingDrained)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	if after := n.allPods(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the pods are %v, want %v as before", after, before)
	}
	n.testOneChain(t)
}

// podOf is the pod of a validator, in the cluster that has it. While there is
// none it is an empty one.
func (n *spanningNetwork) podOf(t *testing.T, validator topology.Validator) *corev1.Pod {
	t.Helper()
	if pod := n.holder(validator.Cluster).mustPods(t)[resources.PodName(validator.Name)]; pod != nil {
		return pod
	}
	return &corev1.Pod{}
}

// goesOn waits until some more blocks are finalised.
func (n *spanningNetwork) goesOn(t *testing.T) {
	t.Helper()
	began := n.finalized(t)
	eventually(t, "the chain to go on", func(context.Context) error {
		if now := n.finalized(t); now < began+blocksAfter {
			return fmt.Errorf("the height is %d, want %d", now, began+blocksAfter)
		}
		return nil
	})
}

// node is a machine of a cluster.
type node struct {
	*cluster
	name string
}

// machineOf is the machine of a validator.
func (n *spanningNetwork) machineOf(t *testing.T, validator topology.Validator) node {
	t.Helper()
	return node{n.holder(validator.Cluster).cluster, n.podOf(t, validator).Spec.NodeName}
}

// drain drains the machine as an administrator does, and waits as long as that
// takes.
func (m node) drain(ctx context.Context) error {
	_, err := m.kubectl.run(ctx, "", "drain", m.name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", patience.String())
	return err
}

func (m node) cordon(t *testing.T) {
	t.Helper()
	m.kubectl.mustRun(t, "cordon", m.name)
}

func (m node) uncordon(t *testing.T) {
	t.Helper()
	m.kubectl.mustRun(t, "uncordon", m.name)
}
