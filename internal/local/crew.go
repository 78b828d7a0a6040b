// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/topology"
)

// crew counts the nodes of a plan, those apart that validate nothing.
func crew(plan *topology.Plan) string {
	count := map[topology.Role]int{}
	for _, node := range plan.Nodes {
		count[node.Role]++
	}
	words := console.Plural(plan.Validators(), "validator")
	rpcNodes, archives := count[topology.RoleRPC], count[topology.RoleArchive]
	switch {
	case rpcNodes > 0 && archives > 0:
		words += ", " + console.Plural(rpcNodes, "rpc node") + " and " + console.Plural(archives, "archive")
	case rpcNodes > 0:
		words += " and " + console.Plural(rpcNodes, "rpc node")
	case archives > 0:
		words += " and " + console.Plural(archives, "archive")
	}
	return words
}
