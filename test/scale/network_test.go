// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	testnetChart = "../../charts/testnet"
	preset       = "near-1m-70-shards"
)

// size is how large the network of a run is.
type size struct {
	// validators are as many as there are machines, one on each.
	validators int
	// settings of the chart make the preset so large, in one cluster.
	settings []string
	// ranges is the file of what the run may measure.
	ranges string
}

var (
	// published is the preset's own size.
	published = size{
		validators: 140,
		settings:   oneCluster(47, 47, 46),
		ranges:     "ranges.yaml",
	}
	// largest is the most validators that a network may have.
	largest = size{
		validators: 1000,
		settings:   append(oneCluster(334, 333, 333), "--set", "network.shards=500"),
		ranges:     "ranges-large.yaml",
	}
)

// oneCluster are the regions of the preset with so many nodes and without their
// clusters.
func oneCluster(central, east1, east4 int) []string {
	return []string{"--set-json", fmt.Sprintf(`network.regions=[{"name":"us-central1","nodes":%d},`+
		`{"name":"us-east1","nodes":%d},{"name":"us-east4","nodes":%d}]`, central, east1, east4)}
}

// network reads a ShardNetwork.
func (c *cluster) network(ctx context.Context, name string) (*v1alpha1.ShardNetwork, error) {
	var network v1alpha1.ShardNetwork
	err := c.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, &network)
	return &network, err
}

// hasConditions says which conditions of a network differ from what is wanted.
func (c *cluster) hasConditions(ctx context.Context, name string, wanted map[string]metav1.ConditionStatus) error {
	network, err := c.network(ctx, name)
	if err != nil {
		return err
	}
	for kind, status := range wanted {
		condition := meta.FindStatusCondition(network.Status.Conditions, kind)
		if condition == nil || condition.Status != status || condition.ObservedGeneration != network.Generation {
			return fmt.Errorf("network %s: condition %s is %+v, want %s", name, kind, condition, status)
		}
	}
	return nil
}

// podsRun says how many pods of a network do not run.
func (c *cluster) podsRun(ctx context.Context, network string, wanted int) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.MatchingLabels{resources.LabelNetwork: network}); err != nil {
		return err
	}
	running := 0
	var others []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodRunning {
			running++
			continue
		}
		others = append(others, fmt.Sprintf("%s is %s on machine %q", pod.Name, pod.Status.Phase, pod.Spec.NodeName))
	}
	if running != wanted {
		return fmt.Errorf("%d of %d pods run, and %d are there: %s",
			running, wanted, len(pods.Items), strings.Join(others[:min(len(others), 3)], ", "))
	}
	return nil
}

// create has the operator make the network of the preset, and measures what
// that takes.
func (s *scale) create(t *testing.T) {
	s.cluster.audit.read(t)
	before := s.operator.cpuSeconds(t)
	start := time.Now()
	// Fake machines have no kernel to tune.
	arguments := []string{"install", "near", testnetChart, "--set", "preset=" + preset, "--set", "nodeTuning.enabled=false"}
	s.cluster.helm(t, append(arguments, s.size.settings...)...)
	eventually(t, 3*time.Minute, func(ctx context.Context) error {
		return s.cluster.hasConditions(ctx, "near", map[string]metav1.ConditionStatus{
			v1alpha1.ConditionGenesisReady: metav1.ConditionTrue,
			v1alpha1.ConditionApplied:      metav1.ConditionTrue,
		})
	})
	s.figures["secondsUntilApplied"] = time.Since(start).Seconds()
	made := s.cluster.audit.read(t)
	s.figures["requestsUntilApplied"] = float64(len(made))
	s.figures["writesUntilApplied"] = float64(len(made.writes()))
	s.figures["cpuSecondsUntilApplied"] = s.operator.cpuSeconds(t) - before
	t.Logf("the operator's requests until everything was applied:\n%s", made)

	// The control plane's part, which grows with what there is.
	eventually(t, time.Duration(s.size.validators)*2*time.Second, func(ctx context.Context) error {
		return s.cluster.podsRun(ctx, "near", s.size.validators)
	})
	s.figures["secondsUntilPodsRun"] = time.Since(start).Seconds()

	// No node answers, so that nothing is known of the chain.
	eventually(t, time.Minute, func(ctx context.Context) error {
		return s.cluster.hasConditions(ctx, "near", map[string]metav1.ConditionStatus{
			v1alpha1.ConditionNodesReady: metav1.ConditionTrue,
			v1alpha1.ConditionUpdated:    metav1.ConditionTrue,
			v1alpha1.ConditionProducing:  metav1.ConditionUnknown,
			v1alpha1.ConditionTCPTuned:   metav1.ConditionUnknown,
			v1alpha1.ConditionReady:      metav1.ConditionUnknown,
		})
	})
	t.Logf("the operator's requests until all pods ran:\n%s", s.cluster.audit.read(t))

	network, err := s.cluster.network(t.Context(), "near")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func(ctx context.Context) error { return s.cluster.complete(ctx, t, network, "") })
	s.cluster.checkGenesis(t, network, "")
	// The claims are looked at after the pods, and that is the last that is said of them.
	eventually(t, time.Minute, func(ctx context.Context) error {
		return s.cluster.told(ctx, "near", v1alpha1.ReasonAllVolumesSized)
	})
}

// told says whether there is an event yet of a reason about a network. Events are
// written after the status that they are about.
func (c *cluster) told(ctx context.Context, network, reason string) error {
	var events eventsv1.EventList
	if err := c.List(ctx, &events, client.InNamespace(metav1.NamespaceDefault)); err != nil {
		return err
	}
	for i := range events.Items {
		if event := &events.Items[i]; event.Reason == reason && event.Regarding.Name == network {
			return nil
		}
	}
	return fmt.Errorf("none of %d events about network %s is %s", len(events.Items), network, reason)
}

// writesPerMinute measures what a network costs to which nothing happens.
func (s *scale) writesPerMinute(t *testing.T, window time.Duration) float64 {
	t.Helper()
	s.cluster.audit.read(t)
	before := s.operator.cpuSeconds(t)
	start := time.Now()
	select {
	case <-time.After(window):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	made, elapsed := s.cluster.audit.read(t), time.Since(start)
	t.Logf("the operator took %.2f of a core; its requests in %s:\n%s",
		(s.operator.cpuSeconds(t)-before)/elapsed.Seconds(), window, made)
	return float64(len(made.writes())) / elapsed.Minutes()
}

// becomesReady waits until the network is ready, once its nodes answer.
func (s *scale) becomesReady(t *testing.T) {
	t.Helper()
	start := time.Now()
	// The stand-in reads the files of one node after the other.
	eventually(t, time.Duration(s.size.validators)*time.Second, func(ctx context.Context) error {
		return s.cluster.hasConditions(ctx, "near", map[string]metav1.ConditionStatus{
			v1alpha1.ConditionProducing: metav1.ConditionTrue,
			v1alpha1.ConditionTCPTuned:  metav1.ConditionTrue,
			v1alpha1.ConditionReady:     metav1.ConditionTrue,
		})
	})
	t.Logf("ready %s after the nodes began to answer", time.Since(start).Round(time.Second))

	eventually(t, time.Minute, func(ctx context.Context) error {
		network, err := s.cluster.network(ctx, "near")
		if err != nil {
			return err
		}
		status := &network.Status
		if status.ShardsProducing == nil || *status.ShardsProducing != network.Spec.Shards {
			return fmt.Errorf("shards producing: %v, want %d", status.ShardsProducing, network.Spec.Shards)
		}
		if status.TransfersPerSecond == nil || *status.TransfersPerSecond == 0 {
			return fmt.Errorf("transfers per second: %v, want what the load offers", status.TransfersPerSecond)
		}
		return s.cluster.told(ctx, "near", v1alpha1.ReasonRunning)
	})
}

// remove uninstalls the network and waits until nothing is left of it. That is
// the end of what the operator's memory is measured over.
func (s *scale) remove(t *testing.T) {
	start := time.Now()
	s.cluster.helm(t, "uninstall", "near")
	eventually(t, time.Duration(s.size.validators)*2*time.Second, s.cluster.empty)
	s.figures["secondsUntilDeleted"] = time.Since(start).Seconds()
	s.figures["operatorPeakMemory"] = s.operator.peakMemoryMebibytes(t)
}
