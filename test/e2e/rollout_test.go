// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	nextImage = "shardyard/shardnode:next"

	// rolloutNamespace has the networks whose nodes are replaced: the unmodified
	// preset quickstart, which has no volumes, under its load.
	rolloutNamespace = "rollouts"
	// rolloutPatience is how long an update may take.
	rolloutPatience = 10 * time.Minute
	// longestRolloutSilence is how many blocks in a row may hold no chunk of a
	// shard while nodes are replaced.
	longestRolloutSilence = 20
)

// specChange is a change of a network's spec, as values of the testnet chart.
type specChange struct {
	name   string
	values []string
	// replaces is true when nodes are replaced for it.
	replaces bool
	// offered is the load that it sets, in transfers per second; 0 when it sets none.
	offered int64
}

// What changes on ordinary days.
var (
	logLevel  = replacing("log level", "network.node.log.level=Debug")
	poolSize  = replacing("pool size", "network.node.features.mempoolCapacity=50000")
	retention = replacing("retention", "network.node.storage.retentionBlocks=10000")
	memory    = replacing("memory limit", "network.node.resources.limits.memory=1Gi")
	image     = replacing("image", "network.node.image="+nextImage)
	schedule  = specChange{name: "load schedule", offered: 4000, values: []string{
		"network.load.ramp.steps[0].transfersPerSecond=4000", "network.load.ramp.steps[0].durationSeconds=60",
	}}
)

// replacing is a change that nodes are replaced for.
func replacing(name string, values ...string) specChange {
	return specChange{name: name, values: values, replaces: true}
}

// together are several such changes as one.
func together(name string, changes ...specChange) specChange {
	all := replacing(name)
	for _, change := range changes {
		all.values = append(all.values, change.values...)
	}
	return all
}

// changing is a network that is changed under load while everything it tells is
// compared.
type changing struct {
	*network
	// values are those of all changes so far.
	values  []string
	witness *witness
	turns   *turns
}

// install installs the preset quickstart with more values, none for it as it is.
func (c *cluster) installPreset(t *testing.T, values ...string) *changing {
	t.Helper()
	c.newNamespace(t, rolloutNamespace, "restricted")
	n := &changing{network: c.network(t, rolloutNamespace, "quickstart"), values: values}
	n.set(t)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	n.witness, n.turns = n.watch(t), n.watchTurns(t)
	return n
}

// set has the network's release have its values and some more.
func (n *changing) set(t *testing.T, values ...string) {
	t.Helper()
	n.values = append(n.values, values...)
	arguments := []string{"upgrade", "--install", n.name, testnetChart, "--namespace", n.namespace, "--set", "preset=quickstart"}
	for _, value := range n.values {
		arguments = append(arguments, "--set", value)
	}
	n.helm.mustRun(t, arguments...)
}

// testChanges makes changes one after the other. Disturb, if any, happens in the
// middle of each.
func (n *changing) testChanges(t *testing.T, disturb func(*testing.T), changes ...specChange) {
	t.Helper()
	for _, change := range changes {
		if !t.Run(change.name, func(t *testing.T) { n.testChange(t, disturb, change) }) {
			return
		}
	}
}

func (n *changing) testChange(t *testing.T, disturb func(*testing.T), change specChange) {
	t.Helper()
	began, before := time.Now(), n.mustPods(t)
	n.set(t, change.values...)
	if disturb != nil && change.replaces {
		within(t, rolloutPatience, "the first node to be replaced", func(ctx context.Context) error {
			pods, err := n.pods(ctx)
			if err != nil {
				return err
			}
			for name, old := range before {
				if pod := pods[name]; pod != nil && pod.UID != old.UID {
					return nil
				}
			}
			return errors.New("none is")
		})
		disturb(t)
	}
	n.awaitUpdate(t)
	t.Logf("the nodes run what the spec says after %s", time.Since(began).Round(time.Second))
	for name, pod := range n.mustPods(t) {
		if replaced := before[name] == nil || before[name].UID != pod.UID; replaced != change.replaces {
			t.Errorf("that %s was replaced is %t, want %t", name, replaced, change.replaces)
		}
	}
	if change.offered > 0 {
		eventually(t, "the load to be another", func(ctx context.Context) error {
			live, err := n.read(ctx)
			if err != nil {
				return err
			}
			if load := live.Status.Load; load == nil || ptr.Deref(load.OfferedTransfersPerSecond, 0) != change.offered {
				return fmt.Errorf("it is %+v", load)
			}
			return nil
		})
	}
	n.checkWhole(t)
}

// awaitUpdate waits until every node runs what the spec says and is back.
func (n *changing) awaitUpdate(t *testing.T) {
	t.Helper()
	within(t, rolloutPatience, "the nodes of "+n.name+" to run what the spec says", func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		for _, condition := range live.Status.Conditions {
			switch {
			case condition.ObservedGeneration != live.Generation:
				return errors.New("the operator has not looked at it yet")
			case condition.Type == v1alpha1.ConditionReady && condition.Status != metav1.ConditionTrue:
				return fmt.Errorf("it is not ready: %s", condition.Message)
			}
		}
		if live.Status.Update != nil {
			return fmt.Errorf("the update goes on: %+v", *live.Status.Update)
		}
		return nil
	})
}

// checkWhole checks that the chain goes on with every validator, and that each
// producer has a complete copy of its shard.
func (n *changing) checkWhole(t *testing.T) {
	t.Helper()
	height := n.witness.height()
	for _, validator := range n.plan(t).Nodes {
		eventually(t, "the chain to go on with "+validator.Name, func(context.Context) error {
			if confirmed := n.witness.confirmed(validator.Name); confirmed < height+blocksAfter {
				return fmt.Errorf("its state is that of the chain up to height %d, want %d", confirmed, height+blocksAfter)
			}
			return nil
		})
		api := n.api(t, validator.Name)
		eventually(t, "a complete copy in "+validator.Name, func(ctx context.Context) error {
			status, err := api.Status(ctx)
			if err != nil {
				return err
			}
			if status.Copy == nil || !status.Copy.Complete {
				return fmt.Errorf("it has %+v", status.Copy)
			}
			return nil
		})
	}
}

// check ends the watch and says what it saw.
func (n *changing) check(t *testing.T) {
	t.Helper()
	n.turns.check(t)
	n.witness.checkWithin(t, longestPause, longestRolloutSilence)
}

// uninstall removes the network.
func (n *changing) uninstall(t *testing.T) {
	t.Helper()
	n.helm.mustRun(t, "uninstall", n.name, "--namespace", n.namespace,
		"--cascade", "foreground", "--wait", "--timeout", patience.String())
	n.waitForEnd(t)
}

// testOrdinaryDay is what make rollouts does at length.
func (c *cluster) testOrdinaryDay(t *testing.T) {
	n := c.installPreset(t)
	n.testChanges(t, nil, together("configuration", logLevel, poolSize, retention, memory), schedule)
	n.testChanges(t, c.killOperator, image)
	n.check(t)
	n.testSubstitute(t)
	n.uninstall(t)
}

// testChangeOfHaltedChain changes a network whose chain stands still, because
// half of its validators hang. It waits, and comes back whole.
func (n *changing) testChangeOfHaltedChain(t *testing.T) {
	t.Helper()
	before, plan := n.mustPods(t), n.plan(t)
	var hanging []frozen
	for _, validator := range plan.Nodes {
		if validator.Slot == 0 {
			hanging = append(hanging, freeze(t, before[resources.PodName(validator.Name)]))
		}
	}
	n.waitFor(t, v1alpha1.ConditionProducing, metav1.ConditionFalse, v1alpha1.ReasonChainStalled)
	n.set(t, "network.node.log.level=Warn")
	n.waitFor(t, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonAwaitingChain)
	for name, pod := range n.mustPods(t) {
		if before[name].UID != pod.UID {
			t.Errorf("%s was replaced while the chain stood still", name)
		}
	}
	for _, one := range hanging {
		one.thaw(t)
	}
	n.awaitUpdate(t)
	n.checkWhole(t)
	n.turns.check(t)
	n.witness.checkAgreement(t)
}

// TestRollouts replaces the nodes of networks again and again. It takes long.
func TestRollouts(t *testing.T) {
	cluster := startCluster(t, theCluster, keep())
	cluster.installOperator(t)
	everything := []specChange{logLevel, poolSize, retention, memory, schedule, image}
	for name, values := range map[string][]string{
		"two producers a shard":   nil,
		"three producers a shard": {"network.producersPerShard=3", "network.regions[0].name=local", "network.regions[0].nodes=6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("one change after the other", func(t *testing.T) {
				n := cluster.installPreset(t, values...)
				n.testChanges(t, nil, everything...)
				n.check(t)
				n.uninstall(t)
			})
			t.Run("without the operator in the middle", func(t *testing.T) {
				n := cluster.installPreset(t, values...)
				n.testChanges(t, cluster.killOperator, everything...)
				n.check(t)
				n.uninstall(t)
			})
			t.Run("while the chain stands still", func(t *testing.T) {
				n := cluster.installPreset(t, values...)
				n.testChangeOfHaltedChain(t)
				n.uninstall(t)
			})
		})
	}
}
