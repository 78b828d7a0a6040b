// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// Of eleven nodes, 0 to 7 are producers of four shards, 8 is an rpc node, and 9 and 10
// are archives.
func TestRestartsOfArchives(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*observed.Network)
		want   []int
		waits  string
	}{
		"one by one": {func(*observed.Network) {}, []int{9}, ""},
		"beside others": {
			func(observation *observed.Network) {
				observation.Nodes[0].Outdated, observation.Nodes[8].Outdated = true, true
			},
			[]int{0, 8, 9},
			"",
		},
		"one stays while the other is away": {
			func(observation *observed.Network) {
				observation.Nodes[9].Outdated = false
				networks.NoPod(&observation.Nodes[9])
			},
			nil, "",
		},
		"with one producer of each shard": {
			func(observation *observed.Network) { networks.NotReady(&observation.Nodes[2]) }, []int{9}, "",
		},
		"never as the only copy": {
			func(observation *observed.Network) {
				networks.NotReady(&observation.Nodes[2])
				networks.NotReady(&observation.Nodes[3])
			},
			nil, "a producer of shard 1",
		},
		"within what the spec allows": {
			func(observation *observed.Network) {
				networks.NotReady(&observation.Nodes[0])
				observation.Network.Spec.Update.MaxUnavailable = ptr.To[int32](1)
			},
			nil, "",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.HealthyArchived(t, 4, 2, 0, 1, 2)
			for i := range observation.Nodes {
				observation.Nodes[i].Outdated = i > 8
			}
			test.change(observation)
			rollout := replacing.NewRollout(observation)
			if !slices.Equal(rollout.Replace, test.want) {
				t.Errorf("%v are replaced, want %v", rollout.Replace, test.want)
			}
			if got := rollout.Updated.Message; !strings.Contains(got, test.waits) {
				t.Errorf("the message is %q, want it to say %q", got, test.waits)
			}
		})
	}
}

// However many archives there are, consensus can do without two of eight producers.
func TestArchivesAreNoValidators(t *testing.T) {
	t.Parallel()
	observation := networks.HealthyArchived(t, 4, 2, 0, 0, 6)
	networks.Outdate(observation, 7)
	for i := 8; i < len(observation.Nodes); i++ {
		observation.Nodes[i].Outdated = false
	}
	if replaced := replacing.NewRollout(observation).Replace; !slices.Equal(replaced, []int{0}) {
		t.Errorf("%v are replaced, want one producer", replaced)
	}
}
