// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/shardyard/shardyard/internal/manifest"
)

// notChecked is what follows errors that leave nothing for rules to compare.
var notChecked = refusal{"<nil>", "some validation rules were not checked"}

// wrongManifests are refused at creation.
var wrongManifests = map[string]struct {
	edits []edit
	want  []refusal
}{
	// What the document is.
	"wrong kind": {
		[]edit{set("kind", "ShardNetwerk")},
		[]refusal{{"kind", `Invalid value: "ShardNetwerk": must be ShardNetwork`}},
	},
	"unknown field": {
		[]edit{set("spec.producers", 2)},
		[]refusal{{"spec.producers", "unknown field"}},
	},
	"unknown fields far down": {
		[]edit{
			set("spec.load.ramp.steps", []object{{"transfersPerSecond": 1, "durationSeconds": 1, "duration": "1s"}}),
			set("spec.node.logs", object{}),
		},
		[]refusal{{"spec.load.ramp.steps[0].duration", "unknown field"}, {"spec.node.logs", "unknown field"}},
	},
	"unknown field of metadata": {
		[]edit{set("metadata.label", "a")},
		[]refusal{{"metadata.label", "unknown field"}},
	},
	"no spec": {
		[]edit{remove("spec")},
		[]refusal{{"spec", "Required value"}, notChecked},
	},
	"no required fields": {
		[]edit{set("spec", object{})},
		[]refusal{
			{"spec.producersPerShard", "Required value"},
			{"spec.shards", "Required value"},
			notChecked,
		},
	},

	// Names.
	"no name": {
		[]edit{remove("metadata.name")},
		[]refusal{{"metadata.name", "Required value"}, notChecked},
	},
	"name in capitals": {
		[]edit{set("metadata.name", "Net")},
		[]refusal{{"metadata.name", "lowercase RFC 1123 subdomain"}, {"metadata", "metadata.name must be a DNS label"}},
	},
	"name with a dot": {
		[]edit{set("metadata.name", "my.net")},
		[]refusal{{"metadata", "metadata.name must be a DNS label"}},
	},
	"name that begins with a digit": {
		[]edit{set("metadata.name", "4net")},
		[]refusal{{"metadata", "metadata.name must be a DNS label that begins with a letter"}},
	},
	"name of 41 characters": {
		[]edit{set("metadata.name", strings.Repeat("n", 41))},
		[]refusal{{"metadata", "metadata.name must be at most 40 characters"}},
	},

	// Shards and producers.
	"zero shards": {
		[]edit{set("spec.shards", 0)},
		[]refusal{{"spec.shards", "should be greater than or equal to 1"}},
	},
	"negative shards": {
		[]edit{set("spec.shards", -4)},
		[]refusal{{"spec.shards", "should be greater than or equal to 1"}},
	},
	"too many shards": {
		[]edit{set("spec.shards", 1025)},
		[]refusal{{"spec.shards", "should be less than or equal to 1000"}},
	},
	"shards as text": {
		[]edit{set("spec.shards", "four")},
		[]refusal{{"spec.shards", "must be of type integer"}, notChecked},
	},
	"part of a shard": {
		[]edit{set("spec.shards", 4.5)},
		[]refusal{
			{"spec.shards", "must be of type int32"},
			{"<nil>", "must be of type integer with format int32 in spec.shards"},
			notChecked,
		},
	},
	"no producers": {
		[]edit{set("spec.producersPerShard", 0)},
		[]refusal{{"spec.producersPerShard", "should be greater than or equal to 1"}},
	},
	"too many producers": {
		[]edit{set("spec.producersPerShard", 65)},
		[]refusal{{"spec.producersPerShard", "should be less than or equal to 64"}},
	},

	"negative chunk validators": {
		[]edit{set("spec.chunkValidators", -1)},
		[]refusal{{"spec.chunkValidators", "should be greater than or equal to 0"}},
	},
	"too many chunk validators": {
		[]edit{set("spec.chunkValidators", 1001)},
		[]refusal{{"spec.chunkValidators", "should be less than or equal to 1000"}},
	},
	"negative rpc nodes": {
		[]edit{set("spec.rpcNodes", -1)},
		[]refusal{{"spec.rpcNodes", "should be greater than or equal to 0"}},
	},
	"too many rpc nodes": {
		[]edit{set("spec.rpcNodes", 101)},
		[]refusal{{"spec.rpcNodes", "should be less than or equal to 100"}},
	},
	"no nodes for the rpc nodes": {
		[]edit{set("spec.rpcNodes", 2)},
		[]refusal{{"spec.regions", "the regions have 9 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 11"}},
	},
	"rpc nodes with a region in another cluster": {
		[]edit{
			set("spec.rpcNodes", 1),
			set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "south", "nodes": 5, "cluster": "far"}}),
		},
		[]refusal{{"spec.rpcNodes", "must be 0 with regions in other clusters"}},
	},
	"too many archives": {
		[]edit{set("spec.archiveNodes", 11)},
		[]refusal{{"spec.archiveNodes", "should be less than or equal to 10"}},
	},
	"negative archives": {
		[]edit{set("spec.archiveNodes", -1)},
		[]refusal{{"spec.archiveNodes", "should be greater than or equal to 0"}},
	},
	"an archive without parts that are kept": {
		[]edit{
			set("spec.archiveNodes", 1), remove("spec.regions"),
			set("spec.node.features.saveUntrackedChunkParts", "Disabled"),
		},
		[]refusal{{"spec.archiveNodes", "needs spec.node.features.saveUntrackedChunkParts"}},
	},
	"archives with a region in another cluster": {
		[]edit{
			set("spec.archiveNodes", 1),
			set("spec.node.features.saveUntrackedChunkParts", "Enabled"),
			set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "south", "nodes": 5, "cluster": "far"}}),
		},
		[]refusal{{"spec.archiveNodes", "must be 0 with regions in other clusters"}},
	},
	"too many validators": {
		[]edit{
			set("spec.shards", 20),
			set("spec.producersPerShard", 50),
			set("spec.regions", []object{{"name": "north", "nodes": 1000}, {"name": "south", "nodes": 1}}),
		},
		[]refusal{{"spec.producersPerShard", "is 1001, but a network has at most 1000 validators"}},
	},

	// Regions.
	"no regions": {
		[]edit{set("spec.regions", []object{})},
		[]refusal{
			{"spec.regions", "should have at least 1 items"},
			{"spec.regions", "the regions have 0 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"},
		},
	},
	"too few nodes": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "south", "nodes": 2}})},
		[]refusal{{"spec.regions", "the regions have 7 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"}},
	},
	"too many nodes": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 10}})},
		[]refusal{{"spec.regions", "the regions have 10 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"}},
	},
	"no nodes for the chunk validators": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 8}})},
		[]refusal{{"spec.regions", "the regions have 8 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"}},
	},
	"region twice": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "north", "nodes": 4}})},
		[]refusal{{"spec.regions[1]", `Duplicate value: {"name":"north"}`}},
	},
	"region in a cluster that no Secret can name": {
		edits: []edit{set("spec.regions", []object{{"name": "north", "nodes": 9, "cluster": "Far!"}})},
		want:  []refusal{{"spec.regions[0].cluster", "Invalid value"}},
	},
	"region without nodes": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 9}, {"name": "south", "nodes": 0}})},
		[]refusal{{"spec.regions[1].nodes", "should be greater than or equal to 1"}},
	},
	"region without a name": {
		[]edit{set("spec.regions", []object{{"nodes": 9}})},
		[]refusal{{"spec.regions[0].name", "Required value"}, notChecked},
	},
	"region with too many nodes": {
		[]edit{set("spec.regions", []object{{"name": "north", "nodes": 1001}})},
		[]refusal{
			{"spec.regions", "the regions have 1001 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"},
			{"spec.regions[0].nodes", "should be less than or equal to 1000"},
		},
	},
	"region of an empty name": {
		[]edit{set("spec.regions", []object{{"name": "", "nodes": 9}})},
		[]refusal{{"spec.regions[0].name", "should be at least 1 chars long"}},
	},
	"bad region name": {
		[]edit{set("spec.regions", []object{{"name": "North_1", "nodes": 9}})},
		[]refusal{{"spec.regions[0].name", "should match"}},
	},
	"long region name": {
		[]edit{set("spec.regions", []object{{"name": strings.Repeat("n", 64), "nodes": 9}})},
		[]refusal{{"spec.regions[0].name", "may not be more than 63"}, notChecked},
	},

	// Genesis and protocol.
	"one account per shard": {
		[]edit{set("spec.genesis.accountsPerShard", 1)},
		[]refusal{{"spec.genesis.accountsPerShard", "should be greater than or equal to 2"}},
	},
	"too many accounts per shard": {
		[]edit{set("spec.genesis.accountsPerShard", 1_000_001)},
		[]refusal{{"spec.genesis.accountsPerShard", "should be less than or equal to 1000000"}},
	},
	"too many accounts": {
		[]edit{
			set("spec.shards", 16),
			set("spec.regions", []object{{"name": "north", "nodes": 33}}),
			set("spec.genesis.accountsPerShard", 625_001),
		},
		[]refusal{{"spec.genesis.accountsPerShard", "shards * accountsPerShard is 10000016, but a network has at most"}},
	},
	"no balance": {
		[]edit{set("spec.genesis.initialBalance", 0)},
		[]refusal{{"spec.genesis.initialBalance", "should be greater than or equal to 1"}},
	},
	"supply of 2^64": {
		// 4 * 1024 * 2^52
		[]edit{
			set("spec.genesis.accountsPerShard", 1024),
			set("spec.genesis.initialBalance", int64(1)<<52),
		},
		[]refusal{{"spec.genesis.initialBalance", "must be at most 4503599627370495 with 4096 accounts"}},
	},
	"supply far above 2^64": {
		[]edit{set("spec.genesis.initialBalance", int64(1)<<62)},
		[]refusal{{"spec.genesis.initialBalance", "the sum of all balances must be below 2^64"}},
	},
	"empty seed": {
		[]edit{set("spec.genesis.seed", "")},
		[]refusal{{"spec.genesis.seed", "should be at least 1 chars long"}},
	},
	"long seed": {
		[]edit{set("spec.genesis.seed", strings.Repeat("s", 65))},
		[]refusal{{"spec.genesis.seed", "may not be more than 64"}, notChecked},
	},
	"block time too short": {
		[]edit{set("spec.protocol.minBlockTimeMilliseconds", 9)},
		[]refusal{{"spec.protocol.minBlockTimeMilliseconds", "should be greater than or equal to 10"}},
	},
	"block time too long": {
		[]edit{set("spec.protocol.minBlockTimeMilliseconds", 60_001)},
		[]refusal{{"spec.protocol.minBlockTimeMilliseconds", "should be less than or equal to 60000"}},
	},
	"chunks of nothing": {
		[]edit{set("spec.protocol.maxTransactionsPerChunk", 0)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "should be greater than or equal to 1"}},
	},
	"chunks too large": {
		[]edit{set("spec.protocol.maxTransactionsPerChunk", 32_769)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "should be less than or equal to 32768"}},
	},
	"chunks too large where accounts are removed": {
		[]edit{set("spec.protocol.leastBalance", 1), set("spec.protocol.maxTransactionsPerChunk", 21_476)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 21475 with a leastBalance of 1"}},
	},
	"results at once": {
		[]edit{set("spec.protocol.executionLag", 0)},
		[]refusal{{"spec.protocol.executionLag", "should be greater than or equal to 1"}},
	},
	"results too late": {
		[]edit{set("spec.protocol.executionLag", 5), set("spec.protocol.maxTransactionsPerChunk", 1)},
		[]refusal{{"spec.protocol.executionLag", "should be less than or equal to 4"}},
	},
	"chunks too large for two executions": {
		[]edit{set("spec.protocol.executionLag", 2), set("spec.protocol.maxTransactionsPerChunk", 11_939)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 11938 with an executionLag of 2 and a leastBalance of 0"}},
	},
	"chunks too large for three executions": {
		[]edit{set("spec.protocol.executionLag", 3), set("spec.protocol.maxTransactionsPerChunk", 6088)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 6087 with an executionLag of 3 and a leastBalance of 0"}},
	},
	"chunks too large for four executions": {
		[]edit{set("spec.protocol.executionLag", 4), set("spec.protocol.maxTransactionsPerChunk", 3690)},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 3689 with an executionLag of 4 and a leastBalance of 0"}},
	},
	"chunks too large for two executions where accounts are removed": {
		[]edit{
			set("spec.protocol.executionLag", 2), set("spec.protocol.leastBalance", 10),
			set("spec.protocol.maxTransactionsPerChunk", 8296),
		},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 8295 with an executionLag of 2 and a leastBalance of 10"}},
	},
	"chunks too large for three executions where accounts are removed": {
		[]edit{
			set("spec.protocol.executionLag", 3), set("spec.protocol.leastBalance", 10),
			set("spec.protocol.maxTransactionsPerChunk", 4498),
		},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 4497 with an executionLag of 3 and a leastBalance of 10"}},
	},
	"chunks too large for four executions where accounts are removed": {
		[]edit{
			set("spec.protocol.executionLag", 4), set("spec.protocol.leastBalance", 10),
			set("spec.protocol.maxTransactionsPerChunk", 2851),
		},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 2850 with an executionLag of 4 and a leastBalance of 10"}},
	},
	"the default size of chunks with a longer lag": {
		[]edit{set("spec.protocol", object{"executionLag": 2})},
		[]refusal{{"spec.protocol.maxTransactionsPerChunk", "must be at most 8295 with an executionLag of 2 and a leastBalance of 10"}},
	},
	"an update at genesis": {
		[]edit{set("spec.update.atHeight", 0)},
		[]refusal{{"spec.update.atHeight", "should be greater than or equal to 1"}},
	},
	"negative fee": {
		[]edit{set("spec.protocol.transferFee", -1)},
		[]refusal{{"spec.protocol.transferFee", "should be greater than or equal to 0"}},
	},
	"negative least balance": {
		[]edit{set("spec.protocol.leastBalance", -1)},
		[]refusal{{"spec.protocol.leastBalance", "should be greater than or equal to 0"}},
	},
	"accounts that have too little from the start": {
		[]edit{
			set("spec.protocol.maxTransactionsPerChunk", 20_000),
			set("spec.protocol.leastBalance", 1_000_001),
		},
		[]refusal{{"spec.genesis.initialBalance", "must be at least 1000001, the leastBalance of spec.protocol"}},
	},
	"congestion control of another kind": {
		[]edit{set("spec.protocol.congestionControl", "On")},
		[]refusal{{"spec.protocol.congestionControl", `Unsupported value: "On"`}, notChecked},
	},
	"no mandates": {
		[]edit{set("spec.protocol.mandatesPerShard", 0)},
		[]refusal{{"spec.protocol.mandatesPerShard", "should be greater than or equal to 1"}},
	},
	"too many mandates for a shard": {
		[]edit{set("spec.protocol.mandatesPerShard", 10_001)},
		[]refusal{{"spec.protocol.mandatesPerShard", "should be less than or equal to 10000"}},
	},
	"too many mandates for all shards": {
		[]edit{
			set("spec.shards", 128),
			set("spec.regions", []object{{"name": "north", "nodes": 257}}),
			set("spec.protocol.mandatesPerShard", 7813),
		},
		[]refusal{{"spec.protocol.mandatesPerShard", "shards * mandatesPerShard is 1000064, but a height has at most 1000000"}},
	},
	"epoch too short": {
		[]edit{set("spec.protocol.epochLengthBlocks", 15)},
		[]refusal{{"spec.protocol.epochLengthBlocks", "should be greater than or equal to 16"}},
	},
	"epoch too long": {
		[]edit{set("spec.protocol.epochLengthBlocks", 10_000_001)},
		[]refusal{{"spec.protocol.epochLengthBlocks", "should be less than or equal to 10000000"}},
	},

	// Pods.
	"an empty template": {
		[]edit{set("spec.podTemplate", object{})},
		[]refusal{{"spec.podTemplate", "should have at least 1 properties"}},
	},
	"the operator's labels": {
		[]edit{set("spec.podTemplate.metadata.labels", object{"shardyard.dev/shard": "7"})},
		[]refusal{{"spec.podTemplate.metadata.labels", "must not begin with shardyard.dev/ or app.kubernetes.io/"}},
	},
	"everybody's labels": {
		[]edit{set("spec.podTemplate.metadata.labels", object{"app.kubernetes.io/name": "mine"})},
		[]refusal{{"spec.podTemplate.metadata.labels", "must not begin with shardyard.dev/ or app.kubernetes.io/"}},
	},
	"labels that are none": {
		[]edit{set("spec.podTemplate.metadata.labels", object{"a b": "c"})},
		[]refusal{{"spec.podTemplate.metadata.labels", "must be labels"}},
	},
	"the operator's annotations": {
		[]edit{set("spec.podTemplate.metadata.annotations", object{"shardyard.dev/admin-token-hash": "none"})},
		[]refusal{{"spec.podTemplate.metadata.annotations", "must not begin with shardyard.dev/"}},
	},
	"a machine type in the template": {
		[]edit{set("spec.podTemplate.spec.nodeSelector", object{"node.kubernetes.io/instance-type": "small"})},
		[]refusal{{"spec.podTemplate.spec.nodeSelector", "must leave node.kubernetes.io/instance-type to spec.placement.machineType"}},
	},
	"a region in the template": {
		[]edit{set("spec.podTemplate.spec.nodeSelector", object{"topology.kubernetes.io/region": "west"})},
		[]refusal{{"spec.podTemplate.spec.nodeSelector", "must leave topology.kubernetes.io/region to spec.regions"}},
	},
	"a Secret twice": {
		[]edit{set("spec.podTemplate.spec.imagePullSecrets", []object{{"name": "a"}, {"name": "a"}})},
		[]refusal{{"spec.podTemplate.spec.imagePullSecrets[1]", `Duplicate value: {"name":"a"}`}},
	},
	"a taint of any key and one value": {
		[]edit{set("spec.podTemplate.spec.tolerations", []object{{"value": "chain"}})},
		[]refusal{{"spec.podTemplate.spec.tolerations[0].key", "is required where operator is Equal"}},
	},
	"a taint of any value and one": {
		[]edit{set("spec.podTemplate.spec.tolerations", []object{{"key": "a", "operator": "Exists", "value": "chain"}})},
		[]refusal{{"spec.podTemplate.spec.tolerations[0].value", "must not be set where operator is Exists"}},
	},
	"a taint that ends nothing, for a while": {
		[]edit{set("spec.podTemplate.spec.tolerations", []object{{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}})},
		[]refusal{{"spec.podTemplate.spec.tolerations[0].tolerationSeconds", "needs the effect NoExecute"}},
	},
	"pods without disks that are deleted": {
		[]edit{remove("spec.volume"), remove("spec.lifetime"), remove("spec.budget")},
		[]refusal{{"spec.podTemplate.spec.tolerations", "must have no tolerationSeconds without spec.volume"}},
	},
	"images that are pulled at times": {
		[]edit{set("spec.node.imagePullPolicy", "Sometimes")},
		[]refusal{{"spec.node.imagePullPolicy", `Unsupported value: "Sometimes"`}, notChecked},
	},

	// Clients.
	"a load balancer for everybody": {
		[]edit{remove("spec.rpcService.sourceRanges")},
		[]refusal{{"spec.rpcService.sourceRanges", "is required when type is LoadBalancer"}},
	},
	"addresses that nothing balances": {
		[]edit{remove("spec.rpcService.type")},
		[]refusal{{"spec.rpcService.sourceRanges", "is required when type is LoadBalancer, and must not be set otherwise"}},
	},
	"an address that is no range": {
		[]edit{set("spec.rpcService.sourceRanges", []string{"203.0.113.7"})},
		[]refusal{{"spec.rpcService.sourceRanges", "must be ranges of addresses"}},
	},
	"a range that begins in its middle": {
		[]edit{set("spec.rpcService.sourceRanges", []string{"203.0.113.7/24"})},
		[]refusal{{"spec.rpcService.sourceRanges", "must be ranges of addresses"}},
	},
	"a Service of the operator's annotations": {
		[]edit{set("spec.rpcService.annotations", object{"shardyard.dev/applied": "no"})},
		[]refusal{{"spec.rpcService.annotations", "must not begin with shardyard.dev/"}},
	},
	"a route to validators": {
		[]edit{remove("spec.regions"), set("spec.rpcRoute", aRoute)},
		[]refusal{{"spec.rpcRoute", "needs spec.rpcNodes: requests from outside are led to no validator"}},
	},
	"a route that nobody may hand requests on by": {
		[]edit{routed, remove("spec.rpcRoute.sourceNamespaces")},
		[]refusal{{"spec.rpcRoute.sourceNamespaces", "is required unless sourceRanges is set: the network policy lets in nobody"}},
	},
	"an HTTPRoute by no Gateway": {
		[]edit{routed, set("spec.rpcRoute.type", "HTTPRoute")},
		[]refusal{{"spec.rpcRoute.httpRoute", "is required when type is HTTPRoute"}},
	},
	"an HTTPRoute by one Gateway twice": {
		[]edit{
			routed, set("spec.rpcRoute.type", "HTTPRoute"),
			set("spec.rpcRoute.httpRoute", object{"parentRefs": []object{{"name": "a"}, {"name": "a"}}}),
		},
		[]refusal{{"spec.rpcRoute.httpRoute.parentRefs", "must be different from each other"}},
	},
	"an Ingress by a Gateway": {
		[]edit{routed, set("spec.rpcRoute.httpRoute", object{"parentRefs": []object{{"name": "a"}}})},
		[]refusal{{"spec.rpcRoute.httpRoute", "is required when type is HTTPRoute, and must not be set otherwise"}},
	},
	"an HTTPRoute of a class": {
		[]edit{
			routed, set("spec.rpcRoute.type", "HTTPRoute"), set("spec.rpcRoute.ingress", object{"className": "nginx"}),
			set("spec.rpcRoute.httpRoute", object{"parentRefs": []object{{"name": "a"}}}),
		},
		[]refusal{{"spec.rpcRoute.ingress", "must not be set unless type is Ingress"}},
	},
	"a route for an address": {
		[]edit{routed, set("spec.rpcRoute.hostnames", []string{"203.0.113.7"})},
		[]refusal{{"spec.rpcRoute.hostnames", "must be DNS names, not addresses"}},
	},
	"a route for all hosts of a domain": {
		[]edit{routed, set("spec.rpcRoute.hostnames", []string{"*.example.com"})},
		[]refusal{{"spec.rpcRoute.hostnames[0]", "should match"}},
	},
	"a route from an address that is no range": {
		[]edit{routed, set("spec.rpcRoute.sourceRanges", []string{"203.0.113.7"})},
		[]refusal{{"spec.rpcRoute.sourceRanges", "must be ranges of addresses"}},
	},
	"a route of the operator's annotations": {
		[]edit{routed, set("spec.rpcRoute.annotations", object{"shardyard.dev/applied": "no"})},
		[]refusal{{"spec.rpcRoute.annotations", "must not begin with shardyard.dev/"}},
	},

	// Nodes.
	"image with a space": {
		[]edit{set("spec.node.image", "shardnode latest")},
		[]refusal{{"spec.node.image", "should match"}},
	},
	"quantity that is none": {
		[]edit{set("spec.node.resources.limits.memory", "plenty")},
		[]refusal{{"spec.node.resources.limits.memory", "should match"}},
	},
	"exponent with a fraction": {
		[]edit{set("spec.node.resources.limits.memory", "1e1.5")},
		[]refusal{{"spec.node.resources.limits.memory", "should match"}},
	},
	"exponent of many digits": {
		[]edit{set("spec.node.resources.limits.memory", "1e4000000")},
		[]refusal{{"spec.node.resources.limits.memory", "should match"}},
	},
	"cpu with a fraction of an exponent": {
		[]edit{set("spec.node.resources.requests.cpu", "1e.5")},
		[]refusal{{"spec.node.resources.requests.cpu", "should match"}},
	},
	"disk with a fraction of an exponent": {
		[]edit{set("spec.volume.size", "1e1.5")},
		[]refusal{{"spec.volume.size", "should match"}},
	},
	"disk of a role with an exponent of many digits": {
		[]edit{set("spec.volume.roles", []object{{"role": "Producer", "size": "1e4000000"}})},
		[]refusal{{"spec.volume.roles[0].size", "should match"}},
	},
	"quantity that is a number with a fraction": {
		[]edit{set("spec.node.resources.requests.cpu", 0.5)},
		[]refusal{{"spec.node.resources.requests.cpu", "must be of type integer,string"}, notChecked},
	},
	"negative quantity": {
		[]edit{set("spec.node.resources.requests.cpu", "-1")},
		[]refusal{{"spec.node.resources.requests.cpu", "must be between 10m and 1024 cores"}},
	},
	"zero quantity": {
		[]edit{set("spec.node.resources.requests.cpu", 0)},
		[]refusal{{"spec.node.resources.requests.cpu", "must be between 10m and 1024 cores"}},
	},
	"memory without its unit": {
		[]edit{set("spec.node.resources.requests.memory", 4)},
		[]refusal{{"spec.node.resources.requests.memory", "must be between 64Mi and 16Ti"}},
	},
	"endless quantity": {
		[]edit{set("spec.node.resources.limits.memory", strings.Repeat("9", 33))},
		[]refusal{{"spec.node.resources.limits.memory", "may not be more than 32"}, notChecked},
	},
	"cpu request above its limit": {
		[]edit{set("spec.node.resources.requests.cpu", "2001m")},
		[]refusal{{"spec.node.resources.requests.cpu", "must not exceed limits.cpu"}},
	},
	"memory request above its limit": {
		[]edit{set("spec.node.resources.requests.memory", "3G")},
		[]refusal{{"spec.node.resources.requests.memory", "must not exceed limits.memory"}},
	},
	"resources of nothing": {
		[]edit{set("spec.node.resources.requests", object{})},
		[]refusal{{"spec.node.resources.requests", "should have at least 1 properties"}},
	},
	"a role of no node": {
		[]edit{set("spec.chunkValidators", 0), set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "south", "nodes": 3}})},
		[]refusal{{"spec.node.roles", "must not have ChunkValidator without chunkValidators"}},
	},
	"a role of no rpc node": {
		[]edit{set("spec.node.roles", []object{{"role": "RPC", "resources": object{}}})},
		[]refusal{{"spec.node.roles", "must not have RPC without rpcNodes"}},
	},
	"a role of no archive": {
		[]edit{set("spec.node.roles", []object{{"role": "Archive", "resources": object{}}})},
		[]refusal{{"spec.node.roles", "must not have Archive without archiveNodes"}},
	},
	"a role that there is not": {
		[]edit{set("spec.node.roles", []object{{"role": "Observer", "resources": object{}}})},
		[]refusal{{"spec.node.roles[0].role", `Unsupported value: "Observer"`}, notChecked},
	},
	"a role without resources": {
		[]edit{set("spec.node.roles", []object{{"role": "Producer"}})},
		[]refusal{{"spec.node.roles[0].resources", "Required value"}, notChecked},
	},
	"a role's cpu request above its limit": {
		[]edit{set("spec.node.roles", []object{
			{"role": "Producer", "resources": object{"requests": object{"cpu": 3}, "limits": object{"cpu": 2}}},
		})},
		[]refusal{{"spec.node.roles[0].resources.requests.cpu", "must not exceed limits.cpu"}},
	},
	"negative batch": {
		[]edit{set("spec.node.features.signatureBatchSize", -1)},
		[]refusal{{"spec.node.features.signatureBatchSize", "should be greater than or equal to 0"}},
	},
	"empty pool": {
		[]edit{set("spec.node.features.mempoolCapacity", 0)},
		[]refusal{{"spec.node.features.mempoolCapacity", "should be greater than or equal to 1"}},
	},
	"unknown engine": {
		[]edit{set("spec.node.storage.engine", "log")},
		[]refusal{{"spec.node.storage.engine", `Unsupported value: "log": supported values: "Log"`}, notChecked},
	},
	"no snapshots": {
		[]edit{set("spec.node.storage.snapshotIntervalBlocks", 0)},
		[]refusal{{"spec.node.storage.snapshotIntervalBlocks", "should be greater than or equal to 1"}},
	},
	"retention shorter than snapshots": {
		[]edit{set("spec.node.storage.retentionBlocks", 499)},
		[]refusal{{"spec.node.storage.retentionBlocks", "must be at least snapshotIntervalBlocks (500)"}},
	},
	"retention shorter than the default of snapshots": {
		[]edit{set("spec.node.storage", object{"retentionBlocks": 999})},
		[]refusal{{"spec.node.storage.retentionBlocks", "must be at least snapshotIntervalBlocks (1000)"}},
	},
	"unknown log level": {
		[]edit{set("spec.node.log.level", "Loud")},
		[]refusal{{"spec.node.log.level", `Unsupported value: "Loud"`}, notChecked},
	},

	// Machines and disks.
	"machine type of a region that is none": {
		[]edit{set("spec.placement.regions", []object{{"name": "west", "machineType": "c4d-highmem-16"}})},
		[]refusal{{"spec.placement.regions", "must be regions of spec.regions"}},
	},
	"machine type of a region without regions": {
		[]edit{remove("spec.regions"), set("spec.placement.regions", []object{{"name": "north", "machineType": "c4d-highmem-16"}})},
		[]refusal{{"spec.placement.regions", "must be regions of spec.regions"}},
	},
	"bad machine type": {
		[]edit{set("spec.placement.machineType", "c4d highmem")},
		[]refusal{{"spec.placement.machineType", "should match"}},
	},
	"unknown exclusivity": {
		[]edit{set("spec.placement.exclusivity", "Alone")},
		[]refusal{{"spec.placement.exclusivity", `Unsupported value: "Alone"`}, notChecked},
	},
	"volume of a role that no node has": {
		[]edit{set("spec.volume.roles", []object{{"role": "RPC", "size": "1Gi"}})},
		[]refusal{{"spec.volume.roles", "must not have RPC without rpcNodes"}},
	},
	"volume of a role that no archive has": {
		[]edit{set("spec.volume.roles", []object{{"role": "Archive", "size": "1Gi"}})},
		[]refusal{{"spec.volume.roles", "must not have Archive without archiveNodes"}},
	},
	"volume of a role, of a class and of a performance": {
		[]edit{set("spec.volume.roles", []object{{"role": "Producer", "size": "1Gi", "storageClassName": "fast", "iops": 3000}})},
		[]refusal{{"spec.volume.roles[0].iops", "cannot be set together with storageClassName"}},
	},
	"volumes of a role, twice": {
		[]edit{set("spec.volume.roles", []object{{"role": "Producer", "size": "1Gi"}, {"role": "Producer", "size": "2Gi"}})},
		[]refusal{{"spec.volume.roles[1]", "Duplicate value"}},
	},
	"volume without size": {
		[]edit{remove("spec.volume.size")},
		[]refusal{{"spec.volume.size", "Required value"}, notChecked},
	},
	"volume size without its unit": {
		[]edit{set("spec.volume.size", 100)},
		[]refusal{{"spec.volume.size", "must be between 1Gi and 64Ti"}},
	},
	"negative volume size": {
		[]edit{set("spec.volume.size", "-10Gi")},
		[]refusal{{"spec.volume.size", "must be between 1Gi and 64Ti"}},
	},
	"volume too large": {
		[]edit{set("spec.volume.size", "65Ti")},
		[]refusal{{"spec.volume.size", "must be between 1Gi and 64Ti"}},
	},
	"performance of an existing class": {
		[]edit{set("spec.volume.storageClassName", "fast")},
		[]refusal{
			{"spec.volume.iops", "Forbidden: cannot be set together with storageClassName"},
			{"spec.volume.throughputMebibytesPerSecond", "Forbidden: cannot be set together with storageClassName"},
		},
	},
	"bad storage class": {
		[]edit{set("spec.volume", object{"size": "1Gi", "storageClassName": "Fast"})},
		[]refusal{{"spec.volume.storageClassName", "should match"}},
	},
	"empty storage class": {
		[]edit{set("spec.volume", object{"size": "1Gi", "storageClassName": ""})},
		[]refusal{{"spec.volume.storageClassName", "should be at least 1 chars long"}},
	},
	"long storage class": {
		[]edit{set("spec.volume", object{"size": "1Gi", "storageClassName": strings.Repeat("c", 254)})},
		[]refusal{{"spec.volume.storageClassName", "may not be more than 253"}, notChecked},
	},
	"too few operations": {
		[]edit{set("spec.volume.iops", 99)},
		[]refusal{{"spec.volume.iops", "should be greater than or equal to 100"}},
	},

	// Load.
	"load without profile": {
		[]edit{remove("spec.load.profile")},
		[]refusal{{"spec.load.profile", "Required value"}, notChecked},
	},
	"unknown profile": {
		[]edit{set("spec.load.profile", "Flood")},
		[]refusal{{"spec.load.profile", `Unsupported value: "Flood"`}, notChecked},
	},
	"ramp without steps": {
		[]edit{remove("spec.load.ramp")},
		[]refusal{{"spec.load.ramp", "is required when profile is Ramp, and must not be set otherwise"}},
	},
	"ramp of no steps": {
		[]edit{set("spec.load.ramp.steps", []object{})},
		[]refusal{{"spec.load.ramp.steps", "should have at least 1 items"}},
	},
	"step without rate": {
		[]edit{set("spec.load.ramp.steps", []object{{"durationSeconds": 1}})},
		[]refusal{{"spec.load.ramp.steps[0].transfersPerSecond", "Required value"}, notChecked},
	},
	"negative rate": {
		[]edit{set("spec.load.ramp.steps", []object{{"transfersPerSecond": -1, "durationSeconds": 1}})},
		[]refusal{{"spec.load.ramp.steps[0].transfersPerSecond", "should be greater than or equal to 0"}},
	},
	"rate above what producers sign": {
		[]edit{set("spec.load.ramp.steps", []object{{"transfersPerSecond": 8_000_001, "durationSeconds": 1}})},
		[]refusal{{"spec.load.ramp.steps", "transfersPerSecond must be at most 8000000 with 8 producers"}},
	},
	"step without end": {
		[]edit{set("spec.load.ramp.steps", []object{{"transfersPerSecond": 1, "durationSeconds": 604_801}})},
		[]refusal{{"spec.load.ramp.steps[0].durationSeconds", "should be less than or equal to 604800"}},
	},
	"step of no time": {
		[]edit{set("spec.load.ramp.steps", []object{{"transfersPerSecond": 1, "durationSeconds": 0}})},
		[]refusal{{"spec.load.ramp.steps[0].durationSeconds", "should be greater than or equal to 1"}},
	},

	"a constant load without rate": {
		[]edit{set("spec.load", object{"profile": "Constant"})},
		[]refusal{{"spec.load.constant", "is required when profile is Constant"}},
	},
	"two loads": {
		[]edit{set("spec.load.constant", object{"transfersPerSecond": 1})},
		[]refusal{{"spec.load.constant", "must not be set otherwise"}},
	},
	"a constant rate above what producers sign": {
		[]edit{set("spec.load", object{"profile": "Constant", "constant": object{"transfersPerSecond": 8_000_001}})},
		[]refusal{{"spec.load.constant.transfersPerSecond", "transfersPerSecond must be at most 8000000 with 8 producers"}},
	},
	"a fixed count of a network": {
		[]edit{set("spec.load", fixedCount(1))},
		[]refusal{{"spec.load.fixedCount", "must not be set: a load that has an end is of the runs of a Benchmark"}},
	},
	"a closed loop of a network": {
		[]edit{set("spec.load", object{"profile": "ClosedLoop", "closedLoop": closedLoop(nil)})},
		[]refusal{{"spec.load.closedLoop", "must not be set: the controller of a closed loop runs beside a Benchmark"}},
	},
	"a search of a network": {
		[]edit{set("spec.load", object{"profile": "Search", "search": search(nil)})},
		[]refusal{{"spec.load.search", "must not be set: a search runs beside a Benchmark"}},
	},
	"the users of a network": {
		[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(nil)})},
		[]refusal{{"spec.load.openLoop", "must not be set: the users of an open loop run beside a Benchmark"}},
	},
	"a network whose load is signed before": {
		[]edit{set("spec.load.signing", "Before")},
		[]refusal{{"spec.load.signing", "must be Live: transfers are signed before for the runs of a Benchmark"}},
	},
	"unknown signing": {
		[]edit{set("spec.load.signing", "Later")},
		[]refusal{{"spec.load.signing", `Unsupported value: "Later"`}, notChecked},
	},
	"unknown senders": {
		[]edit{set("spec.load.workload", object{"senders": "Nobody"})},
		[]refusal{{"spec.load.workload.senders", `Unsupported value: "Nobody"`}, notChecked},
	},
	"unknown receivers": {
		[]edit{set("spec.load.workload", object{"receivers": "Everybody"})},
		[]refusal{{"spec.load.workload.receivers", `Unsupported value: "Everybody"`}, notChecked},
	},
	"more than all within the shard": {
		[]edit{set("spec.load.workload", object{"withinShardPercent": 101})},
		[]refusal{{"spec.load.workload.withinShardPercent", "should be less than or equal to 100"}},
	},
	"a share of one hot account": {
		[]edit{set("spec.load.workload", object{"receivers": "HotAccount", "withinShardPercent": 10})},
		[]refusal{{"spec.load.workload.withinShardPercent", "has no effect with receivers HotAccount or OneToOne"}},
	},

	// What lies between regions.
	"a link to nowhere": {
		[]edit{set("spec.links", []object{link("north", "west")})},
		[]refusal{{"spec.links", "must be between regions of spec.regions"}},
	},
	"a link without regions": {
		[]edit{remove("spec.regions"), set("spec.links", []object{link("anywhere", "anywhere")})},
		[]refusal{{"spec.links", "must be between regions of spec.regions"}},
	},
	"a link of one end": {
		[]edit{set("spec.links", []object{{"between": []string{"north"}, "delayMilliseconds": 1}})},
		[]refusal{{"spec.links[0].between", "should have at least 2 items"}},
	},
	"a link of three ends": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south", "north"}, "delayMilliseconds": 1}})},
		[]refusal{{"spec.links[0].between", "must have at most 2 items"}, notChecked},
	},
	"two links between two regions": {
		[]edit{set("spec.links", []object{link("north", "south"), link("south", "south"), link("south", "north")})},
		[]refusal{{"spec.links", "two regions have one link"}},
	},
	"a link that does nothing": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south"}}})},
		[]refusal{{"spec.links[0]", "should have at least 2 properties"}},
	},
	"no links": {
		[]edit{set("spec.links", []object{})},
		[]refusal{{"spec.links", "should have at least 1 items"}},
	},
	"a delay of nothing": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south"}, "delayMilliseconds": 0}})},
		[]refusal{{"spec.links[0].delayMilliseconds", "should be greater than or equal to 1"}},
	},
	"a delay too long": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south"}, "delayMilliseconds": 301}})},
		[]refusal{{"spec.links[0].delayMilliseconds", "should be less than or equal to 300"}},
	},
	"a loss of more than a tenth": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south"}, "lossBasisPoints": 1001}})},
		[]refusal{{"spec.links[0].lossBasisPoints", "should be less than or equal to 1000"}},
	},
	"a bandwidth beyond all": {
		[]edit{set("spec.links", []object{{"between": []string{"north", "south"}, "bandwidthMegabitsPerSecond": 100_001}})},
		[]refusal{{"spec.links[0].bandwidthMegabitsPerSecond", "should be less than or equal to 100000"}},
	},

	// Money and time.
	"tracing to nowhere": {
		[]edit{set("spec.tracing", object{})},
		[]refusal{{"spec.tracing.endpoint", "Required value"}, notChecked},
	},
	"tracing over TLS": {
		[]edit{set("spec.tracing.endpoint", "https://collector:4318")},
		[]refusal{{"spec.tracing.endpoint", "should match '^http://"}},
	},
	"tracing to no host": {
		[]edit{set("spec.tracing.endpoint", "http://:4318")},
		[]refusal{{"spec.tracing.endpoint", "must be a URL with a host"}},
	},
	"tracing of more heights than there are": {
		[]edit{set("spec.tracing", object{"endpoint": "http://collector:4318", "sampleBasisPoints": 10001})},
		[]refusal{{"spec.tracing.sampleBasisPoints", "should be less than or equal to 10000"}},
	},
	"budget of nothing": {
		[]edit{set("spec.budget", object{})},
		[]refusal{{"spec.budget", "should have at least 1 properties"}},
	},
	"budget without its unit": {
		[]edit{set("spec.budget.perHour", 600)},
		[]refusal{{"spec.budget.perHour", "unknown field"}},
	},
	"budget of a run without end": {
		[]edit{remove("spec.lifetime")},
		[]refusal{{"spec.budget.usdPerRun", "needs spec.lifetime"}},
	},
	"lifetime without duration": {
		[]edit{remove("spec.lifetime.durationSeconds")},
		[]refusal{{"spec.lifetime.durationSeconds", "Required value"}, notChecked},
	},
	"lifetime without action": {
		[]edit{remove("spec.lifetime.action")},
		[]refusal{{"spec.lifetime.action", "Required value"}, notChecked},
	},
	"unknown action": {
		[]edit{set("spec.lifetime.action", "Pause")},
		[]refusal{{"spec.lifetime.action", `Unsupported value: "Pause"`}, notChecked},
	},
	"stop that keeps nothing": {
		[]edit{remove("spec.volume"), remove("spec.podTemplate")},
		[]refusal{{"spec.lifetime.action", "cannot be Stop without spec.volume"}},
	},
}

func TestWrongManifestsAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range wrongManifests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := edited(t, test.edits...)
			_, byReader := manifest.Parse(encode(t, wrong))
			_, byServer := create(t, wrong)
			checkRefusals(t, refusalsOfServer(t, byServer), refusalsOfReader(t, byReader), test.want)
		})
	}
}

// link is one between two regions.
func link(a, b string) object {
	return object{"between": []string{a, b}, "delayMilliseconds": 1}
}

// create makes a ShardNetwork for the time of the test. Like kubectl, it asks
// the API server to refuse unknown fields.
func create(t *testing.T, manifest object) (*unstructured.Unstructured, error) {
	t.Helper()
	created, err := networks.Create(t.Context(), &unstructured.Unstructured{Object: manifest},
		metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		t.Cleanup(func() {
			if err := networks.Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Errorf("clean up: %v", err)
			}
		})
	}
	return created, err
}
