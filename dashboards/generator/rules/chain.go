// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// asFastAsPools is the target of generators whose transfers are a fixed count, which come as
// fast as pools have room for them: the most that a producer may be asked for. They are held
// back all the time, and nobody asked for more than the chain takes.
const asFastAsPools = 1_000_000

// chain has the alerts about what finalised blocks say.
func chain() []Rule {
	return rulesOf(
		alert{
			name: "NoBlockFinalised", severity: critical, lasts: "2m",
			// Once it stands still for an hour, it has no block time any more, and the longer window holds.
			// Nodes that all began anew since, or are all gone, tell of no block; the operator knows of some. What it says of
			// a chain whose nodes tell of more is about itself: it does not reach them, or has another time.
			expr: fmt.Sprintf(`(
  %[2]s == 0
  and on (%[1]s)
  %[3]s < 6
)
or
%[4]s == 0
or
(
  %[5]s
  and on (%[1]s)
  max by (%[1]s) (shardyard_shardnetwork_highest_finalized_height) > 0
  unless on (%[1]s)
  %[6]s
  unless on (%[1]s)
  %[7]s > 0
)
`, perNetwork, finalisedWithin("1m"), blockTime, finalisedWithin("10m"),
				condition(`condition="Producing",status!="True",reason=~"ChainStalled|NoAnswer"`),
				condition(`condition="WithinLifetime",status="False"`), finalisedWithin("2m")),
			summary: "No block is finalised in " + theNetwork,
			description: "No node of " + theNetwork + " in namespace {{ $labels.namespace }} has finalised a block for ten of " +
				"its block times, and at least a minute: more than two thirds of the producers must take part.",
		},
		alert{
			name: "ShardWithoutChunks", severity: critical, lasts: "2m",
			expr:    missedLately + " > 0.95\n",
			summary: "Blocks hold no chunks of " + theShard,
			description: "{{ $value | humanizePercentage }} of the blocks that were finalised in the last two minutes hold no " +
				"chunk of " + theShard + " in namespace {{ $labels.namespace }}: none of its transactions is executed.",
		},
		alert{
			name: "ChunksMissed", severity: warning, lasts: "5m",
			expr:    fmt.Sprintf("%s > 0.1\nunless on (namespace, network, shard)\n%s > 0.95\n", missed, missedLately),
			summary: "Blocks lack chunks of " + theShard,
			description: "{{ $value | humanizePercentage }} of the blocks that were finalised in the last five minutes hold no " +
				"chunk of " + theShard + " in namespace {{ $labels.namespace }}: its transactions wait for the next one.",
		},
		alert{
			name: "EndorsementsShort", severity: warning, lasts: "5m",
			// Of what is missed, most was produced. A dead producer's chunks are not.
			expr: fmt.Sprintf(`(
  sum by (namespace, network) (rate(shardnode_chunks_produced_total[5m]))
  - sum by (namespace, network) ((1 - %[1]s) * on (namespace, network) group_left () %[2]s)
)
/
sum by (namespace, network) (%[1]s * on (namespace, network) group_left () %[2]s)
> 0.5
and on (namespace, network)
max by (namespace, network) (%[1]s) > 0.1
`, missed, blockRate),
			summary: "Chunks of " + theNetwork + " are produced and left out of blocks",
			description: "{{ $value | humanizePercentage }} of the chunks that finalised blocks of " + theNetwork +
				" in namespace {{ $labels.namespace }} lack were produced: their headers had no endorsements of more than two " +
				"thirds of their committee's stake, or came too late.",
		},
		alert{
			name: "FinalityLag", severity: warning, lasts: "5m",
			expr:    fmt.Sprintf("%s\n> on (namespace, network) group_left ()\n(2 + 5 * %s)\n", finalityLag, blockTime),
			summary: "Blocks of " + theNetwork + " reach {{ $labels.region }} late",
			description: "Nodes of " + theNetwork + " in region {{ $labels.region }}, namespace {{ $labels.namespace }}, process a " +
				"block as finalised {{ $value | humanizeDuration }} after its timestamp, more than five block times and two seconds.",
		},
		alert{
			name: "LoadHeldBack", severity: warning, lasts: "5m",
			expr: fmt.Sprintf(`%[2]s
/
(sum by (%[1]s) (rate(shardnode_load_signed_total[5m])) + %[2]s)
> 0.1
unless on (%[1]s)
max by (%[1]s) (max_over_time(shardnode_load_target_tps[5m])) >= %[3]d
`, perNetwork, fmt.Sprintf("sum by (%s) (rate(shardnode_load_held_back_total[5m]))", perNetwork), asFastAsPools),
			summary: "The load of " + theNetwork + " is more than it takes",
			description: "{{ $value | humanizePercentage }} of the transfers that the generators of " + theNetwork + " in namespace " +
				"{{ $labels.namespace }} were due to sign in the last five minutes were held back, because the pools had no room: the " +
				"chain is saturated, and a controller that asks for more gets no more.",
		},
	)
}

// finalisedWithin is how many blocks the node that saw the most has finalised, of
// chains that have finalised any.
func finalisedWithin(window string) string {
	return fmt.Sprintf("max by (%s) (changes(shardnode_finalized_height[%s]) and shardnode_finalized_height > 0)", perNetwork, window)
}
