// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// networks has the alerts about what the operator says of networks.
func networks() []Rule {
	const inNamespace = theNetwork + " in namespace {{ $labels.namespace }}"
	return rulesOf(
		alert{
			name: "SupplyNotConserved", severity: critical,
			expr:    condition(`condition="Producing",status="False",reason="SupplyNotConserved"`) + "\n",
			summary: "The supply of " + theNetwork + " is not conserved",
			description: "By its own finalised blocks, the sum of all value of " + inNamespace +
				" is not what genesis made: a fault of the node's software. Nothing that the chain says is to be trusted.",
		},
		alert{
			name: "StatesContradict", severity: critical,
			// A node that ended starts again, and until it ends again nothing says why it did.
			expr: fmt.Sprintf("max by (%s) (max_over_time(shardyard_shardnetwork_condition{%s}[15m]) == 1)\n", perNetwork,
				`condition="NodesReady",status="False",reason="StatesContradict"`),
			summary: "A node of " + theNetwork + " has another state than the chain",
			description: "A producer of " + inNamespace + " came to another state of its shard than finalised blocks commit to, and " +
				"ended: two nodes contradict each other about the same chunks. The condition NodesReady of the network names it.",
		},
		alert{
			name: "DiskFull", severity: critical, lasts: "1m",
			expr:    condition(`condition="NodesReady",status="False",reason="DiskFull"`) + "\n",
			summary: "A disk of " + theNetwork + " is full",
			description: "A validator of " + inNamespace + " cannot write its volume and does not run. The condition NodesReady of " +
				"the network names it.",
		},
		alert{
			name: "MemberClusterLost", severity: warning, lasts: "5m",
			expr:    condition(`condition="ClustersAvailable",status!="True"`) + "\n",
			summary: "A cluster of " + theNetwork + " cannot be used",
			description: "For five minutes, the operator could not use a cluster that holds a region of " + inNamespace +
				". Its validators run on, and nobody looks after them.",
		},
		alert{
			name: "ArchivesBehind", severity: warning, lasts: "10m",
			expr:    condition(`condition="StatesArchived",status="False"`) + "\n",
			summary: "The archives of " + theNetwork + " do not keep up",
			description: "For ten minutes, the archives of " + inNamespace + " have had a state of a shard that is too old, or soon " +
				"will be, for the shard to come back from it should its producers lose their disks. The condition StatesArchived of " +
				"the network says which.",
		},
		alert{
			name: "NodeNotHealed", severity: warning, lasts: "5m",
			expr:    condition(`condition="KeepingUp",status="False",reason="HealingGaveUp"`) + "\n",
			summary: "A node of " + theNetwork + " does not keep up, and starting it again does not help",
			description: "A node of " + inNamespace + " is behind the chain and has come no closer although the operator started it " +
				"again three times. It is left alone. The condition KeepingUp of the network names it.",
		},
		alert{
			name: "NetworkNotReady", severity: warning, lasts: "15m",
			// A network that was stopped on purpose is not meant to be ready, and one that is updated is about to be.
			expr: fmt.Sprintf("%s\nunless on (namespace, network)\n%s\nunless on (namespace, network)\n%s\n",
				condition(`condition="Ready",status!="True"`),
				condition(`condition="WithinLifetime",status="False"`),
				condition(`condition="Updated",status="False",reason="Updating"`)),
			summary: "Network {{ $labels.network }} is not ready",
			description: "The condition Ready of " + inNamespace + " has not been True for a quarter of an hour. Its message says " +
				"what is missing.",
		},
	)
}

// condition has one element for each network of which a condition is as these
// labels say, whatever else they are.
func condition(matchers string) string {
	return fmt.Sprintf("max by (%s) (shardyard_shardnetwork_condition{%s} == 1)", perNetwork, matchers)
}
