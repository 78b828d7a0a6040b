// SPDX-License-Identifier: Apache-2.0

package network

import "fmt"

// What a metric's series are chosen by.
const (
	ofNetwork = `network="$network", namespace=~"$namespace"`
	ofRegions = ofNetwork + `, region=~"$region"`
	ofShards  = ofNetwork + `, shard=~"$shard"`
	ofNode    = ofNetwork + `, node=~"$node"`
	// ofProducers are the producers of a shard, by the names that the planner
	// gives them.
	ofProducers = ofNetwork + `, node=~".+-s($shard)-p[0-9]+"`
)

// executed is the rate of executed transfers of the whole network.
var executed = fmt.Sprintf("sum(%s)", told(rate("shardnode_shard_transfers_total", ofNetwork)))

func metric(name, matchers string) string {
	return name + "{" + matchers + "}"
}

func rate(name, matchers string) string {
	return fmt.Sprintf("rate(%s[$__rate_interval])", metric(name, matchers))
}

// told is what most nodes say of each shard, all of which they see: the median,
// so that neither a node that hangs nor one that catches up, whose rates are
// those of the past, moves it.
func told(expression string) string {
	return fmt.Sprintf("quantile by (shard) (0.5, %s)", expression)
}

// mean is the mean of what a histogram counted.
func mean(name, matchers string) string {
	return fmt.Sprintf("sum(%s) / sum(%s)", rate(name+"_sum", matchers), rate(name+"_count", matchers))
}

// percentile is a percentile of what a histogram counted, by no label or one.
func percentile(quantile, by, name, matchers string) string {
	if by != "" {
		by = ", " + by
	}
	return fmt.Sprintf("histogram_quantile(%s, sum by (le%s) (%s))", quantile, by, rate(name+"_bucket", matchers))
}

// missed is the part of the heights at which a shard's chunk was left out.
func missed(matchers string) string {
	return fmt.Sprintf("%s / on () group_left () quantile(0.5, %s)",
		told(rate("shardnode_shard_missed_chunks_total", matchers)),
		rate("shardnode_block_time_seconds_count", ofNetwork))
}
