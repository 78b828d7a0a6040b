// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// Of eleven nodes, 0 to 7 are producers of four shards and 8 to 10 chunk
// validators. Consensus can do without two producers, of which one may be away
// on purpose.
func TestRestartsOfChunkValidators(t *testing.T) {
	t.Parallel()
	upToDate := func(observation *observed.Network, nodes ...int) {
		for _, i := range nodes {
			observation.Nodes[i].Outdated = false
		}
	}
	producers := []int{0, 1, 2, 3, 4, 5, 6}
	cases := map[string]struct {
		change func(*observed.Network)
		want   []int
	}{
		"one beside a producer":   {func(*observed.Network) {}, []int{0, 8}},
		"one by one":              {func(observation *observed.Network) { upToDate(observation, producers...) }, []int{8}},
		"producers need none":     {func(observation *observed.Network) { networks.NoPod(&observation.Nodes[8]) }, []int{0}},
		"none stands for a shard": {func(observation *observed.Network) { networks.NotReady(&observation.Nodes[9]) }, []int{0, 9}},
		"what does not run goes at once": {
			func(observation *observed.Network) {
				upToDate(observation, producers...)
				networks.Pending(&observation.Nodes[9])
				networks.Pending(&observation.Nodes[10])
			},
			[]int{9, 10},
		},
		"one waits for the one that starts": {
			func(observation *observed.Network) {
				upToDate(observation, producers...)
				upToDate(observation, 8)
				networks.Pending(&observation.Nodes[8])
			},
			nil,
		},
		"one waits for the one that has only just come back": {
			func(observation *observed.Network) {
				upToDate(observation, producers...)
				upToDate(observation, 8)
				observation.Nodes[8].Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(networks.Now.Add(-9 * time.Second))
			},
			nil,
		},
		"without a chain that moves": {
			func(observation *observed.Network) {
				upToDate(observation, producers...)
				for i := range observation.Nodes {
					networks.NotReady(&observation.Nodes[i])
				}
			},
			[]int{8},
		},
		"one stays while chunks would lack endorsements": {
			// Of eleven validators three may be away, and no fourth.
			func(observation *observed.Network) {
				upToDate(observation, producers...)
				for _, i := range []int{0, 2, 4} {
					networks.NotReady(&observation.Nodes[i])
				}
			},
			nil,
		},
		"a connection to one that does not run is not missed": {
			func(observation *observed.Network) {
				upToDate(observation, 8, 9, 10)
				networks.NoPod(&observation.Nodes[8])
				networks.NoPod(&observation.Nodes[9])
				for i := range observation.Nodes {
					if status := observation.Nodes[i].Status; status != nil {
						status.Peers = 8
					}
				}
			},
			[]int{0},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.HealthyWith(t, 4, 2, 3)
			networks.Outdate(observation, 7)
			test.change(observation)
			if replaced := replacing.NewRollout(observation).Replace; !slices.Equal(replaced, test.want) {
				t.Errorf("%v are replaced, want %v", replaced, test.want)
			}
		})
	}
}

// A chunk validator that does not take part is a node that is not ready, and
// nothing that shards lack.
func TestChunkValidatorsProduceNothing(t *testing.T) {
	t.Parallel()
	observation := networks.HealthyWith(t, 2, 2, 1)
	networks.NoPod(&observation.Nodes[4])
	if got := policy.ShardsProducing(observation); got != 2 {
		t.Errorf("%d shards produce, want 2", got)
	}
	if producing := policy.Producing(observation); producing.Status != metav1.ConditionTrue {
		t.Errorf("Producing is %s: %s", producing.Status, producing.Message)
	}
	ready := diagnosis.NodesReady(observation)
	if want := "4 of 5 nodes take part; quickstart-v0 has no pod yet"; ready.Message != want {
		t.Errorf("NodesReady says %q, want %q", ready.Message, want)
	}
}
