// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/topology"
)

// newPlan is a plan of two shards with two producers each, in two regions, and a
// chunk validator.
func newPlan() *topology.Plan {
	return &topology.Plan{Network: "net", Shards: 2, Nodes: []topology.Validator{
		{Name: "net-s0-p0", Region: "east", Role: topology.RoleProducer, Seat: &topology.Seat{Shard: 0, Slot: 0}},
		{Name: "net-s0-p1", Region: "west", Role: topology.RoleProducer, Seat: &topology.Seat{Shard: 0, Slot: 1}},
		{Name: "net-s1-p0", Region: "east", Role: topology.RoleProducer, Seat: &topology.Seat{Shard: 1, Slot: 0}},
		{Name: "net-s1-p1", Region: "west", Role: topology.RoleProducer, Seat: &topology.Seat{Shard: 1, Slot: 1}},
		{Name: "net-v0", Region: "east", Role: topology.RoleChunkValidator},
	}}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wanted  v1alpha1.FaultValidators
		want    []string
		refused string
	}{
		"names": {
			wanted: v1alpha1.FaultValidators{Names: []string{"net-v0", "net-s0-p1"}}, want: []string{"net-s0-p1", "net-v0"},
		},
		"a region": {
			wanted: v1alpha1.FaultValidators{Region: "east"}, want: []string{"net-s0-p0", "net-s1-p0", "net-v0"},
		},
		"the first shard": {
			wanted: v1alpha1.FaultValidators{Shard: ptr.To[int32](0)}, want: []string{"net-s0-p0", "net-s0-p1"},
		},
		"chunk validators": {
			wanted: v1alpha1.FaultValidators{Role: v1alpha1.FaultChunkValidator}, want: []string{"net-v0"},
		},
		"one of the producers of a region": {
			wanted: v1alpha1.FaultValidators{Region: "west", Role: v1alpha1.FaultProducer, Count: 1}, want: []string{"net-s0-p1"},
		},
		"an unknown name": {
			wanted:  v1alpha1.FaultValidators{Names: []string{"net-s0-p0", "net-s2-p0"}},
			refused: "spec.validators.names: network net has no validator net-s2-p0",
		},
		"nobody": {
			wanted:  v1alpha1.FaultValidators{Region: "west", Role: v1alpha1.FaultChunkValidator},
			refused: "spec.validators: no validator of network net is of all that is said",
		},
		"too many": {
			wanted:  v1alpha1.FaultValidators{Region: "west", Count: 3},
			refused: "spec.validators.count: 2 validators of network net are of all that is said, want 3",
		},
		"all": {
			wanted: v1alpha1.FaultValidators{Count: 5}, refused: "spec.validators: selects all validators",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selected, err := fault.Select(&test.wanted, newPlan())
			if test.refused != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.refused) {
					t.Fatalf("the error is %v, want %s", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, validator := range selected {
				names = append(names, validator.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("selects %v, want %v", names, test.want)
			}
		})
	}
}
