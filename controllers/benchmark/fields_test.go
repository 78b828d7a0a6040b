// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/test/fields"
)

// Where changes of one kind are to be seen.
var (
	ofNetworks = []fields.Effect{inNetworks}
	ofLoad     = []fields.Effect{inLoad}
	ofVerdict  = []fields.Effect{inVerdict}
	// ofLongLoad are changes of how long a load takes until it is measured.
	ofLongLoad = []fields.Effect{inLoad, inRoom}
)

// Loads besides the one of the manifest.
var (
	constantLoad = fields.Object{"spec.load": fields.Object{"profile": "Constant", "constant": fields.Object{"transfersPerSecond": 1000}}}
	rampLoad     = fields.Object{"spec.load": fields.Object{"profile": "Ramp", "ramp": fields.Object{"steps": []fields.Object{
		{"transfersPerSecond": 1000, "durationSeconds": 10}, {"transfersPerSecond": 2000, "durationSeconds": 60},
	}}}}
	countLoad = fields.Object{
		"spec.load": fields.Object{"profile": "FixedCount", "fixedCount": fields.Object{"transfers": 1000}, "signing": "Before"},
		// What is measured begins with the load.
		"spec.warmUpSeconds": 0,
	}
	userLoad = fields.Object{"spec.load": fields.Object{"profile": "OpenLoop", "openLoop": fields.Object{
		"everyMilliseconds": 1000, "steps": []fields.Object{{"users": 100}, {"users": 300}},
	}}}
	searchLoad = fields.Object{"spec.load": fields.Object{"profile": "Search", "search": fields.Object{
		"initialTransfersPerSecond": 500, "maxTransfersPerSecond": 8000,
	}}}
)

// inTurn is a benchmark whose runs may be side by side as well.
var inTurn = fields.Object{"spec.load": constantLoad["spec.load"], "spec.interleaving": "InTurn"}

// alone is a benchmark that is compared with an earlier one.
var alone = fields.Object{
	"spec.variants": fields.Without, "spec.baseline.artifact": fields.Object{"claimName": "earlier", "path": "artifact"},
}

// uploaded is a benchmark whose result goes to a bucket.
var uploaded = fields.Object{"spec.upload": fields.Object{"url": "s3://kept"}}

// benchmarks are all fields of a Benchmark, and what they change.
var benchmarks = &fields.Kind[*v1alpha1.Benchmark]{
	Definition: "shardyard.dev_benchmarks.yaml",
	Manifest: `
apiVersion: shardyard.dev/v1alpha1
kind: Benchmark
metadata:
  name: whole
spec:
  network:
    template:
      spec:
        shards: 2
        producersPerShard: 1
        regions: [{name: here, nodes: 2}]
        genesis: {accountsPerShard: 1000}
  load:
    profile: ClosedLoop
    closedLoop:
      targetBlockTimeMilliseconds: 1500
      initialTransfersPerSecond: 500
      maxTransfersPerSecond: 4000
    workload: {withinShardPercent: 10}
  durationSeconds: 30
  repetitions: 3
  criteria: [{figure: ExecutedPerSecond, atLeast: 900, atMost: 1100}]
  variants: [{name: before, image: "shardnode:one"}, {name: after, features: {mempoolCapacity: 1000}}]
  baseline: {figures: [CPUMicrosecondsPerTransfer]}
`,
	Read: func(_ *testing.T, content []byte) (*v1alpha1.Benchmark, error) {
		return manifest.ParseBenchmark(content)
	},
	Spec:    func(benchmark *v1alpha1.Benchmark) any { return benchmark.Spec },
	Effects: effectsOf,
	// A ShardNetwork has a table of its own.
	Parts: []string{"spec.network.template.spec"},
	Changes: map[string]fields.Change{
		// Which network is measured, that somebody else made.
		"spec.network.name": {
			Given: fields.Object{
				"spec.network":  fields.Object{"name": "running"},
				"spec.variants": fields.Without, "spec.baseline": fields.Without,
			},
			To: "other", In: []fields.Effect{inPods, inObjects},
		},

		// What is measured, and how often.
		"spec.warmUpSeconds":   {To: 20, In: []fields.Effect{inMeasurement, inRoom}},
		"spec.durationSeconds": {To: 60, In: []fields.Effect{inMeasurement, inRoom}},
		"spec.repetitions":     {To: 4, In: []fields.Effect{inRuns, inVerdict, inRoom}},

		"spec.interleaving":                                {Given: inTurn, To: "SideBySide", In: []fields.Effect{inRuns}},
		"spec.variants[].name":                             {To: "first", In: []fields.Effect{inRuns, inVerdict}},
		"spec.variants[].image":                            {To: "shardnode:two", In: ofNetworks},
		"spec.variants[].features.adaptiveChunkSize":       {Given: withFeatures, To: "Disabled", In: ofNetworks},
		"spec.variants[].features.mempoolCapacity":         {Given: withFeatures, To: 2000, In: ofNetworks},
		"spec.variants[].features.mempoolMebibytes":        {Given: withFeatures, To: 32, In: ofNetworks},
		"spec.variants[].features.saveUntrackedChunkParts": {Given: withFeatures, To: "Enabled", In: ofNetworks},
		"spec.variants[].features.signatureBatchSize":      {Given: withFeatures, To: 64, In: ofNetworks},
		"spec.variants[].log.level":                        {To: "Debug", In: ofNetworks},
		"spec.variants[].tracing.endpoint":                 {Given: withTracing, To: "http://other:4318", In: ofNetworks},
		"spec.variants[].tracing.sampleBasisPoints":        {Given: withTracing, To: 500, In: ofNetworks},

		// What the network carries. Whoever finds the rate, in a closed loop, reaches the
		// admin API of the nodes.
		"spec.load.profile": {
			Given: constantLoad,
			Set: fields.Object{"spec.load": fields.Object{"profile": "ClosedLoop", "closedLoop": fields.Object{
				"targetBlockTimeMilliseconds": 1500, "initialTransfersPerSecond": 1000, "maxTransfersPerSecond": 1000,
			}}},
			Along: []string{
				"spec.load.constant.transfersPerSecond",
				"spec.load.closedLoop.targetBlockTimeMilliseconds", "spec.load.closedLoop.initialTransfersPerSecond",
				"spec.load.closedLoop.maxTransfersPerSecond", "spec.load.closedLoop.maxBacklogBlocks",
				"spec.load.closedLoop.maxSettleSeconds",
			},
			In: []fields.Effect{inLoad, inObjects, inPods, inRoom},
		},
		"spec.load.closedLoop.targetBlockTimeMilliseconds": {To: 2000, In: ofLoad},
		"spec.load.closedLoop.initialTransfersPerSecond":   {To: 600, In: ofLoad},
		"spec.load.closedLoop.maxTransfersPerSecond":       {To: 600, In: ofLoad},
		"spec.load.closedLoop.maxBacklogBlocks":            {To: 1, In: ofLoad},
		"spec.load.closedLoop.maxSettleSeconds":            {To: 60, In: ofLongLoad},
		"spec.load.search.initialTransfersPerSecond":       {Given: searchLoad, To: 600, In: ofLoad},
		"spec.load.search.maxTransfersPerSecond":           {Given: searchLoad, To: 600, In: ofLoad},
		"spec.load.search.stepSeconds":                     {Given: searchLoad, To: 30, In: ofLoad},
		"spec.load.search.precisionPercent":                {Given: searchLoad, To: 50, In: ofLoad},
		"spec.load.search.maxSearchSeconds":                {Given: searchLoad, To: 60, In: ofLongLoad},
		"spec.load.search.offeredPercent":                  {Given: searchLoad, To: 150, In: ofLoad},
		"spec.load.constant.transfersPerSecond":            {Given: constantLoad, To: 2000, In: ofLoad},
		"spec.load.fixedCount.transfers":                   {Given: countLoad, To: 2000, In: ofLoad},
		"spec.load.ramp.steps[].transfersPerSecond":        {Given: rampLoad, To: 2000, In: ofLoad},
		"spec.load.ramp.steps[].durationSeconds":           {Given: rampLoad, To: 200, In: ofLongLoad},
		"spec.load.openLoop.everyMilliseconds":             {Given: userLoad, To: 2000, In: ofLoad},
		"spec.load.openLoop.steps[].users":                 {Given: userLoad, To: 200, In: ofLoad},
		// Whoever waits until all is signed reaches it, too.
		"spec.load.signing":                     {Given: constantLoad, To: "Before", In: []fields.Effect{inObjects, inPods}},
		"spec.load.workload.senders":            {To: "Uniform", In: ofLoad},
		"spec.load.workload.receivers":          {To: "Uniform", In: ofLoad},
		"spec.load.workload.withinShardPercent": {To: 20, In: ofLoad},

		// What has to come out.
		"spec.criteria[].figure":          {To: "IncludedPerSecond", In: ofVerdict},
		"spec.criteria[].atLeast":         {To: 1050, In: ofVerdict},
		"spec.criteria[].atMost":          {To: 950, In: ofVerdict},
		"spec.baseline.figures":           {To: []string{"ExecutedPerSecond"}, In: ofVerdict},
		"spec.baseline.confidencePercent": {To: 50, In: ofVerdict},
		"spec.baseline.floorPercent":      {To: 50, In: ofVerdict},
		"spec.baseline.artifact.claimName": {
			Given: alone, To: "other", In: []fields.Effect{inPods},
		},
		"spec.baseline.artifact.path": {Given: alone, To: "other", In: []fields.Effect{inPods}},

		// Where the result goes, and who may put it there. Who has no Secret asks the cloud.
		"spec.upload.url":                {Given: uploaded, To: "s3://kept?endpoint=http://store:9000", In: []fields.Effect{inPods, inObjects}},
		"spec.upload.secretName":         {Given: uploaded, To: "other", In: []fields.Effect{inPods, inObjects}},
		"spec.upload.serviceAccountName": {Given: uploaded, To: "other", In: []fields.Effect{inPods}},
	},
}

// withFeatures is a first variant with features of its own.
var withFeatures = fields.Object{"spec.variants[0].features": fields.Object{"mempoolCapacity": 3000}}

// withTracing is a first variant that is traced.
var withTracing = fields.Object{"spec.variants[0].tracing": fields.Object{"endpoint": "http://collector:4318"}}

// Every field of the API does something.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	benchmarks.CheckEffects(t)
}

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	benchmarks.CheckErrors(t)
}

// The networks of runs are those of the template, with all of their fields.
func TestTheNetworkIsThatOfTheTemplate(t *testing.T) {
	t.Parallel()
	benchmark := &v1alpha1.BenchmarkSpec{}
	fields.Fill(t, &benchmark.Network.Template.Spec)
	want := fields.Text(t, benchmark.Network.Template.Spec)
	if got := fields.Text(t, bench.NetworkSpec(benchmark, 0)); got != want {
		t.Errorf("the network is\n%s\nwant\n%s", got, want)
	}
}
