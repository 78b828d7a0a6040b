// SPDX-License-Identifier: Apache-2.0

// Package shardnetwork keeps the objects of a ShardNetwork as its spec says,
// drives its load, replaces its nodes without silencing a shard, and reports
// what the chain does.
package shardnetwork
