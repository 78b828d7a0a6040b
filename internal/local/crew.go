// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/shardyard/shardyard/internal/topology"

// crew counts the nodes of a plan, those apart that validate nothing.
func crew(plan *topology.Plan) string {
	count := map[topology.Role]int{}
	for _, node := range plan.Nodes {
		count[node.Role]++
	}
	words := plural(plan.Validators(), "validator")
	rpcNodes, archives := count[topology.RoleRPC], count[topology.RoleArchive]
	switch {
	case rpcNodes > 0 && archives > 0:
		words += ", " + plural(rpcNodes, "rpc node") + " and " + plural(archives, "archive")
	case rpcNodes > 0:
		words += " and " + plural(rpcNodes, "rpc node")
	case archives > 0:
		words += " and " + plural(archives, "archive")
	}
	return words
}
