// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// Of eleven nodes, 0 to 7 are producers of four shards, 8 is a chunk validator, and
// 9 and 10 are rpc nodes.
func TestRestartsOfRPCNodes(t *testing.T) {
	t.Parallel()
	upToDate := func(observation *observed.Network, nodes ...int) {
		for _, i := range nodes {
			observation.Nodes[i].Outdated = false
		}
	}
	validators := []int{0, 1, 2, 3, 4, 5, 6, 8}
	cases := map[string]struct {
		change func(*observed.Network)
		want   []int
	}{
		"one beside the validators": {func(*observed.Network) {}, []int{0, 8, 9}},
		"one by one":                {func(observation *observed.Network) { upToDate(observation, validators...) }, []int{9}},
		"validators need none": {
			func(observation *observed.Network) {
				networks.NoPod(&observation.Nodes[9])
				networks.NoPod(&observation.Nodes[10])
				for i := range observation.Nodes {
					if status := observation.Nodes[i].Status; status != nil {
						status.Peers = 8
					}
				}
			},
			[]int{0, 8},
		},
		"one stays while the other does not serve": {
			func(observation *observed.Network) {
				upToDate(observation, validators...)
				upToDate(observation, 9)
				networks.NotReady(&observation.Nodes[9])
			},
			nil,
		},
		"whatever the chain does": {
			func(observation *observed.Network) {
				upToDate(observation, validators...)
				for i := range observation.Nodes {
					networks.NotReady(&observation.Nodes[i])
				}
			},
			[]int{9},
		},
		"within what the spec allows": {
			func(observation *observed.Network) {
				upToDate(observation, validators...)
				upToDate(observation, 0)
				networks.NotReady(&observation.Nodes[0])
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](1)
			},
			nil,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.HealthyServed(t, 4, 2, 1, 2)
			networks.Outdate(observation, 7)
			test.change(observation)
			if replaced := replacing.NewRollout(observation).Replace; !slices.Equal(replaced, test.want) {
				t.Errorf("%v are replaced, want %v", replaced, test.want)
			}
		})
	}
}

// However many nodes serve clients, consensus can do without two of eight producers,
// of which one may be away on purpose, and chunks without three of eleven validators.
func TestRPCNodesAreNoValidators(t *testing.T) {
	t.Parallel()
	observation := networks.HealthyServed(t, 4, 2, 0, 6)
	networks.Outdate(observation, 7, 8, 9, 10, 11, 12, 13)
	if replaced := replacing.NewRollout(observation).Replace; !slices.Equal(replaced, []int{0}) {
		t.Errorf("%v are replaced, want one producer", replaced)
	}

	observation = networks.HealthyServed(t, 4, 2, 3, 3)
	networks.Outdate(observation, 0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13)
	for _, i := range []int{0, 2, 4} {
		networks.NotReady(&observation.Nodes[i])
	}
	if replaced := replacing.NewRollout(observation).Replace; len(replaced) != 0 {
		t.Errorf("%v are replaced while chunks would lack endorsements", replaced)
	}
}
