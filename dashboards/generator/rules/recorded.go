// SPDX-License-Identifier: Apache-2.0

package rules

import "fmt"

// What is recorded: the level of its series, what it is, and over which time.
const (
	// blockTime is long-term: an hour in which the chain slows down still says how
	// fast it is.
	blockTime = "shardyard:block_time_seconds:mean1h"
	// blockRate is in blocks per second.
	blockRate = "shardyard:blocks:rate5m"
	// missedLately and missed are the parts of the finalised blocks that hold no
	// chunk of a shard. There are none while no block is finalised.
	missedLately = "shardyard:shard_missed_chunks:ratio2m"
	missed       = "shardyard:shard_missed_chunks:ratio5m"
	// finalityLag is by region.
	finalityLag = "shardyard:finality_lag_seconds:mean5m"
)

// recordings says of what is recorded which labels it has, and what it is.
var recordings = map[string]struct {
	labels []string
	about  string
}{
	blockTime:    {network, "Mean difference of the timestamps of consecutive finalised blocks in the last hour."},
	blockRate:    {network, "Blocks per second that most nodes saw finalised in the last five minutes."},
	missedLately: {shard, "Part of the blocks finalised in the last two minutes that hold no chunk of the shard."},
	missed:       {shard, "Part of the blocks finalised in the last five minutes that hold no chunk of the shard."},
	finalityLag: {
		[]string{"namespace", "network", "region"},
		"Mean time from a block's timestamp to its processing as finalised in the last five minutes, of half of the region's nodes " +
			"that do not catch up.",
	},
}

var (
	network = []string{"namespace", "network"}
	shard   = []string{"namespace", "network", "shard"}
)

// LabelsOf are the labels of what is recorded under a name.
func LabelsOf(record string) []string { return recordings[record].labels }

// About says what is recorded under a name.
func About(record string) string { return recordings[record].about }

func recorded() []Rule {
	return []Rule{
		{
			Record: blockTime,
			Expr: `sum by (namespace, network) (rate(shardnode_block_time_seconds_sum[1h]))
/
sum by (namespace, network) (rate(shardnode_block_time_seconds_count[1h]))
`,
		},
		{Record: blockRate, Expr: most(perNetwork, "rate(shardnode_block_time_seconds_count[5m])")},
		{Record: missedLately, Expr: missedOver("2m")},
		{Record: missed, Expr: missedOver("5m")},
		{
			Record: finalityLag,
			// A node that catches up processes blocks late, and more of them than there are. Of two nodes of a region, it would
			// be half of what most say.
			Expr: most("namespace, network, region", fmt.Sprintf(
				"rate(shardnode_finality_lag_seconds_sum[5m]) / "+
					"(rate(shardnode_finality_lag_seconds_count[5m]) > 0 <= on (%s) group_left () (1.5 * %s))", perNetwork, blockRate)),
		},
	}
}

// missedOver compares what one node counts with what the same node counts, and
// only then the nodes.
func missedOver(window string) string {
	return most("namespace, network, shard", fmt.Sprintf(
		"rate(shardnode_shard_missed_chunks_total[%[1]s]) / ignoring (shard) group_left () "+
			"(rate(shardnode_block_time_seconds_count[%[1]s]) > 0)", window))
}
