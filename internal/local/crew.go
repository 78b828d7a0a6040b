// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/shardyard/shardyard/internal/topology"

// crew counts the nodes of a plan, those apart that validate nothing.
func crew(plan *topology.Plan) string {
	var rpcNodes int
	for _, validator := range plan.Nodes {
		if validator.Role == topology.RoleRPC {
			rpcNodes++
		}
	}
	words := plural(len(plan.Nodes)-rpcNodes, "validator")
	if rpcNodes > 0 {
		words += " and " + plural(rpcNodes, "rpc node")
	}
	return words
}
