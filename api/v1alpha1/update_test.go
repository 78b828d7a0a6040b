// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/shardyard/shardyard/internal/manifest"
)

const fixedByGenesis = "Forbidden: is fixed by genesis and cannot change"

// wrongUpdates are refused once the network is there.
var wrongUpdates = map[string]struct {
	before []edit
	after  []edit
	want   []refusal
}{
	"more shards": {
		after: []edit{
			set("spec.shards", 8),
			set("spec.producersPerShard", 1),
		},
		want: []refusal{{"spec.producersPerShard", fixedByGenesis}, {"spec.shards", fixedByGenesis}},
	},
	"a producer for a chunk validator": {
		before: []edit{set("spec.shards", 1), set("spec.chunkValidators", 7), remove("spec.load")},
		after: []edit{
			set("spec.shards", 1),
			remove("spec.load"),
			set("spec.chunkValidators", 6),
			set("spec.producersPerShard", 3),
		},
		want: []refusal{{"spec.chunkValidators", fixedByGenesis}, {"spec.producersPerShard", fixedByGenesis}},
	},
	"an rpc node for a chunk validator's": {
		before: []edit{remove("spec.node.roles")},
		after:  []edit{remove("spec.node.roles"), set("spec.chunkValidators", 0), set("spec.rpcNodes", 1)},
		want:   []refusal{{"spec.chunkValidators", fixedByGenesis}, {"spec.rpcNodes", "cannot change"}},
	},
	"an archive for a chunk validator's": {
		before: []edit{remove("spec.node.roles"), set("spec.node.features.saveUntrackedChunkParts", "Enabled")},
		after: []edit{
			remove("spec.node.roles"), set("spec.node.features.saveUntrackedChunkParts", "Enabled"),
			set("spec.chunkValidators", 0), set("spec.archiveNodes", 1),
		},
		want: []refusal{{"spec.chunkValidators", fixedByGenesis}, {"spec.archiveNodes", "cannot change"}},
	},
	"other seed": {
		after: []edit{set("spec.genesis.seed", "other")},
		want:  []refusal{{"spec.genesis.seed", fixedByGenesis}},
	},
	"seed given up for the default": {
		after: []edit{remove("spec.genesis.seed")},
		want:  []refusal{{"spec.genesis.seed", fixedByGenesis}},
	},
	"seed in place of the default": {
		before: []edit{remove("spec.genesis.seed")},
		after:  []edit{set("spec.genesis.seed", "other")},
		want:   []refusal{{"spec.genesis.seed", fixedByGenesis}},
	},
	"more accounts": {
		after: []edit{set("spec.genesis.accountsPerShard", 1001)},
		want:  []refusal{{"spec.genesis.accountsPerShard", fixedByGenesis}},
	},
	"default balance": {
		after: []edit{remove("spec.genesis.initialBalance")},
		want:  []refusal{{"spec.genesis.initialBalance", fixedByGenesis}},
	},
	"results later": {
		after: []edit{set("spec.protocol.executionLag", 2), set("spec.protocol.maxTransactionsPerChunk", 5000)},
		want: []refusal{
			{"spec.protocol.executionLag", fixedByGenesis},
			{"spec.protocol.maxTransactionsPerChunk", fixedByGenesis},
		},
	},
	"other block time": {
		after: []edit{set("spec.protocol.minBlockTimeMilliseconds", 601)},
		want:  []refusal{{"spec.protocol.minBlockTimeMilliseconds", fixedByGenesis}},
	},
	"more mandates": {
		after: []edit{set("spec.protocol.mandatesPerShard", 64)},
		want:  []refusal{{"spec.protocol.mandatesPerShard", fixedByGenesis}},
	},
	"congestion control switched off": {
		after: []edit{set("spec.protocol.congestionControl", "Disabled")},
		want:  []refusal{{"spec.protocol.congestionControl", fixedByGenesis}},
	},
	"dearer transfers": {
		after: []edit{set("spec.protocol.transferFee", 1)},
		want:  []refusal{{"spec.protocol.transferFee", fixedByGenesis}},
	},
	"another least balance": {
		after: []edit{
			set("spec.protocol.leastBalance", 1),
		},
		want: []refusal{
			{"spec.protocol.leastBalance", fixedByGenesis},
			{"spec.protocol.maxTransactionsPerChunk", "must be at most 21475"},
		},
	},
	"protocol given up for the defaults": {
		after: []edit{remove("spec.protocol")},
		want: []refusal{
			{"spec.protocol.epochLengthBlocks", fixedByGenesis},
			{"spec.protocol.leastBalance", fixedByGenesis},
			{"spec.protocol.mandatesPerShard", fixedByGenesis},
			{"spec.protocol.maxTransactionsPerChunk", fixedByGenesis},
			{"spec.protocol.minBlockTimeMilliseconds", fixedByGenesis},
			{"spec.protocol.transferFee", fixedByGenesis},
		},
	},
	"protocol in place of the defaults": {
		before: []edit{remove("spec.protocol")},
		after:  []edit{set("spec.protocol", object{"maxTransactionsPerChunk": 1})},
		want:   []refusal{{"spec.protocol.maxTransactionsPerChunk", fixedByGenesis}},
	},
	"nodes moved to another region": {
		after: []edit{set("spec.regions", []object{{"name": "north", "nodes": 4}, {"name": "south", "nodes": 5}})},
		want:  []refusal{{"spec.regions", "Forbidden: names, node counts and clusters cannot change"}},
	},
	"region with another name": {
		after: []edit{set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "west", "nodes": 4}})},
		want:  []refusal{{"spec.regions", "Forbidden: names, node counts and clusters cannot change"}},
	},
	"region divided": {
		after: []edit{set("spec.regions", []object{
			{"name": "north", "nodes": 5}, {"name": "south", "nodes": 3}, {"name": "west", "nodes": 1},
		})},
		want: []refusal{{"spec.regions", "Forbidden: names, node counts and clusters cannot change"}},
	},
	"regions given up": {
		after: []edit{remove("spec.regions")},
		want:  []refusal{{"spec.regions", "Forbidden: cannot be added or removed: validators keep their state"}},
	},
	"regions where there were none": {
		before: []edit{remove("spec.regions")},
		want:   []refusal{{"spec.regions", "Forbidden: cannot be added or removed: validators keep their state"}},
	},
	"other accounts than the default": {
		before: []edit{remove("spec.genesis")},
		after:  []edit{set("spec.genesis", object{"accountsPerShard": 1001})},
		want:   []refusal{{"spec.genesis.accountsPerShard", fixedByGenesis}},
	},
	"region in another cluster": {
		after: []edit{set("spec.regions", []object{{"name": "north", "nodes": 5, "cluster": "far"}, {"name": "south", "nodes": 4}})},
		want:  []refusal{{"spec.regions", "Forbidden: names, node counts and clusters cannot change"}},
	},
	"region back home": {
		before: []edit{set("spec.regions", []object{{"name": "north", "nodes": 5, "cluster": "far"}, {"name": "south", "nodes": 4}})},
		after:  []edit{set("spec.regions", []object{{"name": "north", "nodes": 5}, {"name": "south", "nodes": 4}})},
		want:   []refusal{{"spec.regions", "Forbidden: names, node counts and clusters cannot change"}},
	},
	"region left out": {
		after: []edit{set("spec.regions", []object{{"name": "north", "nodes": 5}})},
		want: []refusal{
			{"spec.regions", "the regions have 5 nodes, but shards * producersPerShard + chunkValidators + rpcNodes + archiveNodes is 9"},
			{"spec.regions", "Forbidden: names, node counts and clusters cannot change"},
		},
	},
	"smaller disk": {
		after: []edit{set("spec.volume.size", "9Gi")},
		want:  []refusal{{"spec.volume.size", "Forbidden: must be at least 10Gi, which it is: disks grow and never shrink"}},
	},
	"faster disk of a role": {
		before: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi", "iops": 3000}})},
		after:  []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi", "iops": 4000}})},
		want:   []refusal{{"spec.volume.roles[0].iops", "Forbidden: cannot change: a validator keeps the disk"}},
	},
	"smaller disk of a role": {
		before: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "2Gi"}})},
		after:  []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi"}})},
		want:   []refusal{{"spec.volume.roles[0].size", "Forbidden: must be at least 2Gi, which it is"}},
	},
	"a volume of a role that is added": {
		after: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi"}})},
		want:  []refusal{{"spec.volume.roles", "Forbidden: cannot be added or removed: a validator keeps the disk"}},
	},
	"a volume of a role that is given up": {
		before: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi"}})},
		want:   []refusal{{"spec.volume.roles", "Forbidden: cannot be added or removed: a validator keeps the disk"}},
	},
	"a volume of another role": {
		before: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi"}})},
		after:  []edit{set("spec.volume.roles", []object{{"role": "Producer", "size": "1Gi"}})},
		want:   []refusal{{"spec.volume.roles", "Forbidden: cannot be added or removed: a validator keeps the disk"}},
	},
	"other storage class of a role": {
		before: []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "1Gi", "storageClassName": "fast"}})},
		after:  []edit{set("spec.volume.roles", []object{{"role": "ChunkValidator", "size": "2Gi"}})},
		want:   []refusal{{"spec.volume.roles[0].storageClassName", "Forbidden: cannot change: a validator keeps the disk"}},
	},
	"other storage class": {
		before: []edit{set("spec.volume", object{"size": "10Gi", "storageClassName": "fast"})},
		after:  []edit{set("spec.volume", object{"size": "10Gi", "storageClassName": "faster"})},
		want:   []refusal{{"spec.volume.storageClassName", "Forbidden: cannot change: a validator keeps the disk"}},
	},
	"no disk any more": {
		after: []edit{remove("spec.volume"), remove("spec.podTemplate"), set("spec.lifetime.action", "Delete")},
		want:  []refusal{{"spec.volume", "Forbidden: cannot be added or removed"}},
	},
	"faster disk": {
		before: []edit{set("spec.volume", object{"size": "10Gi", "iops": 3000, "throughputMebibytesPerSecond": 140})},
		after:  []edit{set("spec.volume", object{"size": "10Gi", "iops": 4000})},
		want: []refusal{
			{"spec.volume.iops", "Forbidden: cannot change: a validator keeps the disk"},
			{"spec.volume.throughputMebibytesPerSecond", "Forbidden: cannot change: a validator keeps the disk"},
		},
	},
	"unknown field": {
		after: []edit{set("spec.producers", 2)},
		want:  []refusal{{"spec.producers", "unknown field"}},
	},
	"wrong from the start": {
		after: []edit{set("spec.node.log.level", "Loud")},
		want:  []refusal{{"spec.node.log.level", `Unsupported value: "Loud"`}, notChecked},
	},
}

func TestWrongUpdatesAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range wrongUpdates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := edited(t, append(test.before, named(t))...)
			after := edited(t, append(test.after, named(t))...)
			byServer, byReader := update(t, before, after)
			checkRefusals(t, refusalsOfServer(t, byServer), refusalsOfReader(t, byReader), test.want)
		})
	}
}

// What runs on the machines may change; what the chain agreed on stays.
func TestUpdates(t *testing.T) {
	t.Parallel()
	cases := map[string][]edit{
		"nothing":                  nil,
		"order of regions":         {set("spec.regions", []object{{"name": "south", "nodes": 4}, {"name": "north", "nodes": 5}})},
		"links":                    {set("spec.links", []object{link("north", "south")})},
		"image":                    {set("spec.node.image", "registry.example.com/shardnode:1.0.1")},
		"resources":                {remove("spec.node.resources")},
		"features":                 {remove("spec.node.features"), set("spec.node.log.level", "Info")},
		"machine types of regions": {set("spec.placement.regions", []object{{"name": "north", "machineType": "c4d-highmem-32"}})},
		"machine type":             {set("spec.placement.machineType", "c4d-highmem-32")},
		"load":                     {set("spec.load.ramp.steps", []object{{"transfersPerSecond": 1, "durationSeconds": 1}})},
		"end of the load":          {remove("spec.load")},
		"storage":                  {set("spec.node.storage.retentionBlocks", 6000)},
		"volume retention":         {set("spec.volume.retention", "Retain")},
		"bigger disk":              {set("spec.volume.size", "20Gi")},
		"disk in other words":      {set("spec.volume.size", "10240Mi")},
		"tcp profile":              {set("spec.tcp.profile", "HighThroughput")},
		"update":                   {set("spec.update", object{"onTrouble": "Continue", "deadlineSeconds": 30})},
		"update's default":         {remove("spec.update")},
		"healing":                  {set("spec.healing", object{"mode": "Restart", "lostVolumes": "Replace", "stuckAfterSeconds": 60})},
		"healing's default":        {remove("spec.healing")},
		"budget":                   {set("spec.budget", object{"usdPerHour": 1})},
		"longer lifetime":          {set("spec.lifetime.durationSeconds", 86_400)},
		"another end":              {set("spec.lifetime.action", "Delete")},
		"no end any more":          {remove("spec.budget"), remove("spec.lifetime")},
		"region affinity":          {set("spec.placement.regionAffinity", "None")},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := edited(t, named(t))
			after := edited(t, append(edits, named(t))...)
			byServer, byReader := update(t, before, after)
			if byServer != nil {
				t.Errorf("the API server says %v", byServer)
			}
			if byReader != nil {
				t.Errorf("package manifest says %v", byReader)
			}
		})
	}
}

// The disks of a role grow like those of all.
func TestDisksOfRolesGrow(t *testing.T) {
	t.Parallel()
	disks := func(ofValidators, ofProducers string) []edit {
		return []edit{named(t), set("spec.volume.roles", []object{
			{"role": "ChunkValidator", "size": ofValidators}, {"role": "Producer", "size": ofProducers, "storageClassName": "fast"},
		})}
	}
	byServer, byReader := update(t, edited(t, disks("1Gi", "1Gi")...), edited(t, disks("1Gi", "2Gi")...))
	if byServer != nil || byReader != nil {
		t.Errorf("the API server says %v, package manifest %v", byServer, byReader)
	}
}

// update replaces a manifest by another, at the API server and with package
// manifest, and returns what each says.
func update(t *testing.T, before, after object) (byServer, byReader error) {
	t.Helper()
	old, err := manifest.Parse(encode(t, before))
	if err != nil {
		t.Fatal(err)
	}
	_, byReader = manifest.ParseUpdate(encode(t, after), old)

	created, err := create(t, before)
	if err != nil {
		t.Fatal(err)
	}
	replacement := &unstructured.Unstructured{Object: after}
	replacement.SetResourceVersion(created.GetResourceVersion())
	_, byServer = networks.Update(t.Context(), replacement,
		metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	return byServer, byReader
}
