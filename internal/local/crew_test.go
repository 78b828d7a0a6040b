// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"

	"github.com/shardyard/shardyard/internal/topology"
)

func TestCrew(t *testing.T) {
	t.Parallel()
	producer, rpc := topology.Validator{Role: topology.RoleProducer}, topology.Validator{Role: topology.RoleRPC}
	archive := topology.Validator{Role: topology.RoleArchive}
	for want, validators := range map[string][]topology.Validator{
		"1 validator":                            {producer},
		"2 validators":                           {producer, {Role: topology.RoleChunkValidator}},
		"2 validators and 1 rpc node":            {producer, producer, rpc},
		"1 validator and 2 rpc nodes":            {producer, rpc, rpc},
		"1 validator and 1 archive":              {producer, archive},
		"1 validator, 1 rpc node and 2 archives": {producer, rpc, archive, archive},
	} {
		if got := crew(&topology.Plan{Nodes: validators}); got != want {
			t.Errorf("the nodes are %q, want %q", got, want)
		}
	}
}
