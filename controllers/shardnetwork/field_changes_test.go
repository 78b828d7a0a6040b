// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import "slices"

// Where changes of one kind are to be seen.
var (
	ofGenesis        = []effect{inGenesis}
	ofPlans          = []effect{inConfiguration, inDisks, inGenesis, inLoad, inObjects, inPlan, inPods}
	ofRPCNodes       = []effect{inConfiguration, inDisks, inLoad, inObjects, inPlan, inPods, inUpdate}
	ofRegions        = []effect{inConfiguration, inDisks, inObjects, inPlan, inPods}
	ofPods           = []effect{inPods, inRevision}
	ofPlaces         = []effect{inCost, inPods, inRevision}
	ofConfigurations = []effect{inConfiguration, inPods, inRevision}
	ofDisks          = []effect{inCost, inDisks}
	ofObjects        = []effect{inObjects}
	ofUpdates        = []effect{inUpdate}
	ofHealing        = []effect{inHealing}
	ofLoad           = []effect{inLoad}
	ofCost           = []effect{inCost}
	ofLinks          = []effect{inConfiguration, inPlan, inPods, inRevision}
)

// anywhere are changes without which regions had to change with their validators.
var anywhere = object{"spec.regions": without, "spec.links": without}

// keepingParts is anywhere, where archived states are of use.
var keepingParts = object{
	"spec.regions": without, "spec.links": without,
	"spec.node.features.saveUntrackedChunkParts": "Enabled",
}

// ownDisk is what chunk validators have in the place of what all have.
var ownDisk = object{"spec.volume.roles": []object{{
	"role": "ChunkValidator", "size": "1Gi", "iops": 3000, "throughputMebibytesPerSecond": 140,
}}}

// ownMachines is what a region has in the place of what all have.
var ownMachines = object{"spec.placement.regions": []object{{"name": "us-east1", "machineType": "c4d-highmem-32"}}}

// Routes to an rpc node, of both types.
var (
	byIngress = routeOf(object{"type": "Ingress", "ingress": object{"className": "nginx", "tlsSecretName": "rpc"}})
	byGateway = routeOf(object{"type": "HTTPRoute", "httpRoute": object{
		"parentRefs": []object{{"name": "public", "namespace": "edge", "sectionName": "https"}},
	}})
)

// routeOf is a network with an rpc node and a route to it.
func routeOf(route object) object {
	route["hostnames"] = []string{"rpc.example.com"}
	route["annotations"] = object{"example.com/owner": "somebody"}
	route["sourceNamespaces"] = []string{"ingress"}
	route["sourceRanges"] = []string{"203.0.113.0/24"}
	return object{"spec.regions": without, "spec.links": without, "spec.rpcNodes": 1, "spec.rpcRoute": route}
}

// Tolerations of a taint whatever its value, and of one for good.
var (
	anyValue = object{"spec.podTemplate.spec.tolerations[0].value": without}
	forGood  = object{"spec.podTemplate.spec.tolerations[0].tolerationSeconds": without}
)

// Loads that a network may have, and those that only a benchmark may have.
var (
	rampLoad     = object{"profile": "Ramp", "ramp": object{"steps": []object{{"transfersPerSecond": 2000, "durationSeconds": 1}}}}
	constantLoad = object{"profile": "Constant", "constant": object{"transfersPerSecond": 1000}}
	controlled   = object{"spec.load": object{"profile": "ClosedLoop", "closedLoop": object{
		"targetBlockTimeMilliseconds": 1500, "initialTransfersPerSecond": 1000, "maxTransfersPerSecond": 2000,
	}}}
	counted = object{"spec.load": object{
		"profile": "FixedCount", "fixedCount": object{"transfers": 1000}, "signing": "Before",
	}}
	noController = "must not be set: the controller of a closed loop runs beside a Benchmark"
	searched     = object{"spec.load": object{"profile": "Search", "search": object{
		"initialTransfersPerSecond": 1000, "maxTransfersPerSecond": 2000,
	}}}
	noSearch = "must not be set: a search runs beside a Benchmark"
	byUsers  = object{"spec.load": object{"profile": "OpenLoop", "openLoop": object{
		"everyMilliseconds": 5000, "steps": []object{{"users": 2}},
	}}}
	noUsers = "must not be set: the users of an open loop run beside a Benchmark"
)

// fieldChanges are, of every field of the spec, a change and what it changes.
var fieldChanges = map[string]fieldChange{
	// What a network is: fixed by genesis.
	"spec.shards":            {given: anywhere, to: 5, in: append(slices.Clone(ofPlans), inUpdate)},
	"spec.producersPerShard": {given: anywhere, to: 3, in: append(slices.Clone(ofPlans), inUpdate)},
	"spec.chunkValidators":   {given: anywhere, to: 2, in: ofPlans},
	"spec.rpcNodes":          {given: anywhere, to: 1, in: ofRPCNodes},
	"spec.archiveNodes":      {given: keepingParts, to: 1, in: ofRPCNodes},

	"spec.regions[].name": {given: object{"spec.links": without}, to: "us-east4", in: ofRegions},
	"spec.regions[].nodes": {set: object{"spec.regions": []object{
		{"name": "us-central1", "nodes": 4}, {"name": "us-east1", "nodes": 5},
	}}, in: ofRegions},
	"spec.regions[].cluster": {to: "far", in: ofRegions},

	"spec.links[].between": {
		given: object{"spec.links": []object{{"between": []string{"us-central1", "us-east1"}, "delayMilliseconds": 10}}},
		to:    []string{"us-east1", "us-east1"},
		in:    ofLinks,
	},
	"spec.links[].delayMilliseconds":          {to: 20, in: ofLinks},
	"spec.links[].lossBasisPoints":            {to: 20, in: ofLinks},
	"spec.links[].bandwidthMegabitsPerSecond": {to: 2000, in: ofLinks},

	"spec.genesis.accountsPerShard": {to: 2000, in: ofGenesis},
	"spec.genesis.initialBalance":   {to: 2000000, in: ofGenesis},
	"spec.genesis.seed":             {to: "other", in: ofGenesis},

	"spec.protocol.executionLag":             {given: object{"spec.protocol.maxTransactionsPerChunk": 500}, to: 2, in: ofGenesis},
	"spec.protocol.minBlockTimeMilliseconds": {to: 500, in: ofGenesis},
	"spec.protocol.chunkWaitMilliseconds":    {to: 500, in: ofGenesis},
	"spec.protocol.maxTransactionsPerChunk":  {to: 500, in: ofGenesis},
	"spec.protocol.mandatesPerShard":         {to: 100, in: ofGenesis},
	"spec.protocol.epochLengthBlocks":        {to: 100, in: ofGenesis},
	"spec.protocol.congestionControl":        {to: "Disabled", in: ofGenesis},
	"spec.protocol.transferFee":              {to: 2, in: ofGenesis},
	"spec.protocol.leastBalance":             {to: 20, in: ofGenesis},

	// What nodes run, and where.
	"spec.node.image":                             {to: "shardnode:two", in: ofPods},
	"spec.node.resources.requests.cpu":            {to: 3, in: ofPods},
	"spec.node.resources.requests.memory":         {to: "5Gi", in: ofPods},
	"spec.node.resources.limits.cpu":              {to: 5, in: ofConfigurations},
	"spec.node.resources.limits.memory":           {to: "9Gi", in: ofPods},
	"spec.node.roles[].role":                      {to: "Producer", in: ofConfigurations},
	"spec.node.roles[].resources.requests.cpu":    {to: "1500m", in: ofPods},
	"spec.node.roles[].resources.requests.memory": {to: "3Gi", in: ofPods},
	"spec.node.roles[].resources.limits.cpu":      {to: 3, in: ofConfigurations},
	"spec.node.roles[].resources.limits.memory":   {to: "5Gi", in: ofPods},

	"spec.node.features.signatureBatchSize":      {to: 128, in: ofConfigurations},
	"spec.node.features.mempoolCapacity":         {to: 50000, in: ofConfigurations},
	"spec.node.features.mempoolMebibytes":        {to: 32, in: ofConfigurations},
	"spec.node.features.adaptiveChunkSize":       {to: "Disabled", in: ofConfigurations},
	"spec.node.features.saveUntrackedChunkParts": {to: "Enabled", in: ofConfigurations},
	"spec.node.storage.snapshotIntervalBlocks":   {to: 500, in: ofConfigurations},
	"spec.node.storage.retentionBlocks":          {to: 30000, in: ofConfigurations},
	"spec.node.log.level":                        {to: "Debug", in: ofConfigurations},

	"spec.placement.machineType":           {to: "c4d-highmem-32", in: ofPlaces},
	"spec.placement.regions[].name":        {given: ownMachines, to: "us-central1", in: ofPlaces},
	"spec.placement.regions[].machineType": {given: ownMachines, to: "c4d-highmem-64", in: ofPlaces},

	"spec.placement.exclusivity":    {to: "Shared", in: ofPlaces},
	"spec.placement.regionAffinity": {to: "None", in: ofPlaces},
	"spec.placement.nodeTuning":     {to: "fast", in: []effect{inRevision, inTuning}},

	"spec.node.imagePullPolicy": {to: "Always", in: ofPods},

	"spec.podTemplate.metadata.labels":                                    {to: object{"team": "other"}, in: ofPods},
	"spec.podTemplate.metadata.annotations":                               {to: object{"example.com/owner": "other"}, in: ofPods},
	"spec.podTemplate.spec.imagePullSecrets[].name":                       {to: "other", in: ofPods},
	"spec.podTemplate.spec.nodeSelector":                                  {to: object{"disk": "slow"}, in: ofPods},
	"spec.podTemplate.spec.tolerations[].key":                             {to: "other", in: ofPods},
	"spec.podTemplate.spec.tolerations[].operator":                        {given: anyValue, to: "Exists", in: ofPods},
	"spec.podTemplate.spec.tolerations[].value":                           {to: "other", in: ofPods},
	"spec.podTemplate.spec.tolerations[].effect":                          {given: forGood, to: "NoSchedule", in: ofPods},
	"spec.podTemplate.spec.tolerations[].tolerationSeconds":               {to: 30, in: ofPods},
	"spec.podTemplate.spec.priorityClassName":                             {to: "low", in: ofPods},
	"spec.podTemplate.spec.runtimeClassName":                              {to: "gvisor", in: ofPods},
	"spec.podTemplate.spec.schedulerName":                                 {to: "other", in: ofPods},
	"spec.podTemplate.spec.topologySpreadConstraints[].topologyKey":       {to: "rack", in: ofPods},
	"spec.podTemplate.spec.topologySpreadConstraints[].maxSkew":           {to: 2, in: ofPods},
	"spec.podTemplate.spec.topologySpreadConstraints[].whenUnsatisfiable": {to: "ScheduleAnyway", in: ofPods},
	"spec.podTemplate.spec.topologySpreadConstraints[].matchLabelKeys":    {to: []string{"shardyard.dev/role"}, in: ofPods},

	"spec.rpcService.type": {
		given: object{"spec.rpcService": object{"type": "ClusterIP"}},
		set:   object{"spec.rpcService": object{"type": "LoadBalancer", "sourceRanges": []string{"203.0.113.0/24"}}},
		along: []string{"spec.rpcService.sourceRanges"},
		in:    ofObjects,
	},
	"spec.rpcService.annotations":  {to: object{"example.com/balancer": "external"}, in: ofObjects},
	"spec.rpcService.sourceRanges": {to: []string{"198.51.100.0/24"}, in: ofObjects},

	"spec.rpcRoute.type": {
		given: object{
			"spec.regions": without, "spec.links": without, "spec.rpcNodes": 1,
			"spec.rpcRoute": object{"type": "Ingress", "hostnames": []string{"rpc.example.com"}, "sourceNamespaces": []string{"edge"}},
		},
		set: object{
			"spec.rpcRoute.type": "HTTPRoute", "spec.rpcRoute.httpRoute": object{"parentRefs": []object{{"name": "public"}}},
		},
		along: []string{"spec.rpcRoute.httpRoute.parentRefs[].name"},
		in:    ofObjects,
	},
	"spec.rpcRoute.hostnames":                          {given: byIngress, to: []string{"chain.example.com"}, in: ofObjects},
	"spec.rpcRoute.annotations":                        {given: byIngress, to: object{"example.com/owner": "other"}, in: ofObjects},
	"spec.rpcRoute.sourceNamespaces":                   {given: byIngress, to: []string{"other"}, in: ofObjects},
	"spec.rpcRoute.sourceRanges":                       {given: byIngress, to: []string{"198.51.100.0/24"}, in: ofObjects},
	"spec.rpcRoute.ingress.className":                  {given: byIngress, to: "other", in: ofObjects},
	"spec.rpcRoute.ingress.tlsSecretName":              {given: byIngress, to: "other", in: ofObjects},
	"spec.rpcRoute.httpRoute.parentRefs[].name":        {given: byGateway, to: "other", in: ofObjects},
	"spec.rpcRoute.httpRoute.parentRefs[].namespace":   {given: byGateway, to: "other", in: ofObjects},
	"spec.rpcRoute.httpRoute.parentRefs[].sectionName": {given: byGateway, to: "http", in: ofObjects},

	"spec.tcp.profile": {to: "HighThroughput", in: ofPods},

	"spec.tracing.endpoint":          {to: "http://other.example:4318", in: ofConfigurations},
	"spec.tracing.sampleBasisPoints": {to: 200, in: ofConfigurations},

	"spec.volume.size":                                 {to: "20Gi", in: ofDisks},
	"spec.volume.storageClassName":                     {given: object{"spec.volume": object{"size": "10Gi"}}, to: "fast", in: ofDisks},
	"spec.volume.iops":                                 {to: 5000, in: ofDisks},
	"spec.volume.throughputMebibytesPerSecond":         {to: 300, in: ofDisks},
	"spec.volume.roles[].role":                         {given: ownDisk, to: "Producer", in: ofDisks},
	"spec.volume.roles[].size":                         {given: ownDisk, to: "2Gi", in: ofDisks},
	"spec.volume.roles[].iops":                         {given: ownDisk, to: 5000, in: ofDisks},
	"spec.volume.roles[].throughputMebibytesPerSecond": {given: ownDisk, to: 300, in: ofDisks},
	"spec.volume.roles[].storageClassName": {
		given: object{"spec.volume.roles": []object{{"role": "ChunkValidator", "size": "1Gi"}}}, to: "fast", in: ofDisks,
	},
	"spec.volume.retention": {to: "Retain", in: []effect{inDisks}},

	// How nodes are replaced.
	"spec.update.atHeight":        {to: 2000, in: ofUpdates},
	"spec.update.maxUnavailable":  {to: 2, in: ofUpdates},
	"spec.update.onTrouble":       {to: "RollBack", in: ofUpdates},
	"spec.update.deadlineSeconds": {to: 3600, in: ofUpdates},
	"spec.update.onlyCopies": {
		given: object{
			"spec.producersPerShard": 1, "spec.regions": without, "spec.links": without, "spec.volume": without,
			"spec.lifetime.action": "Delete", "spec.podTemplate": without,
		},
		to: "Discard",
		in: ofUpdates,
	},

	// What becomes of those that do not keep up.
	"spec.healing.mode":              {to: "Report", in: ofHealing},
	"spec.healing.lostVolumes":       {to: "Report", in: ofHealing},
	"spec.healing.stuckAfterSeconds": {to: 600, in: ofHealing},

	// What the network carries.
	"spec.load.profile": {
		given: object{"spec.load": rampLoad},
		set:   object{"spec.load": constantLoad},
		along: []string{
			"spec.load.constant.transfersPerSecond", "spec.load.ramp.steps[].durationSeconds", "spec.load.ramp.steps[].transfersPerSecond",
		},
		in: []effect{inCost, inLoad},
	},
	"spec.load.constant.transfersPerSecond":     {given: object{"spec.load": constantLoad}, to: 2000, in: []effect{inCost, inLoad}},
	"spec.load.ramp.steps[].transfersPerSecond": {to: 2000, in: ofLoad},
	"spec.load.ramp.steps[].durationSeconds":    {to: 20, in: ofLoad},
	"spec.load.workload.senders":                {to: "Uniform", in: ofLoad},
	"spec.load.workload.receivers":              {to: "Uniform", in: ofLoad},
	"spec.load.workload.withinShardPercent":     {to: 20, in: ofLoad},
	"spec.load.signing": {
		set: object{"spec.load.signing": "Before"}, refused: "must be Live: transfers are signed before",
	},

	"spec.load.fixedCount.transfers": {
		set: counted, refused: "must not be set: a load that has an end is of the runs of a Benchmark",
	},
	"spec.load.closedLoop.targetBlockTimeMilliseconds": {set: controlled, refused: noController},
	"spec.load.closedLoop.initialTransfersPerSecond":   {set: controlled, refused: noController},
	"spec.load.closedLoop.maxTransfersPerSecond":       {set: controlled, refused: noController},
	"spec.load.closedLoop.maxBacklogBlocks":            {set: controlled, refused: noController},
	"spec.load.closedLoop.maxSettleSeconds":            {set: controlled, refused: noController},
	"spec.load.search.initialTransfersPerSecond":       {set: searched, refused: noSearch},
	"spec.load.search.maxTransfersPerSecond":           {set: searched, refused: noSearch},
	"spec.load.search.stepSeconds":                     {set: searched, refused: noSearch},
	"spec.load.search.precisionPercent":                {set: searched, refused: noSearch},
	"spec.load.search.maxSearchSeconds":                {set: searched, refused: noSearch},
	"spec.load.search.offeredPercent":                  {set: searched, refused: noSearch},
	"spec.load.openLoop.everyMilliseconds":             {set: byUsers, refused: noUsers},
	"spec.load.openLoop.steps[].users":                 {set: byUsers, refused: noUsers},

	// What it may cost, and when it ends.
	"spec.budget.usdPerHour":        {to: 1, in: ofCost},
	"spec.budget.usdPerRun":         {to: 1, in: ofCost},
	"spec.lifetime.durationSeconds": {to: 3600, in: []effect{inCost, inLifetime}},
	"spec.lifetime.action":          {to: "Delete", in: []effect{inLifetime}},
}
