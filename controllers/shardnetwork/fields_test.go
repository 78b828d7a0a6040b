// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/test/fields"
)

// wholeManifest is a network whose spec says something about everything.
const wholeManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: whole
spec:
  shards: 4
  producersPerShard: 2
  chunkValidators: 1
  regions:
    - {name: us-central1, nodes: 5}
    - {name: us-east1, nodes: 4}
  links:
    - {between: [us-central1, us-east1], delayMilliseconds: 10, lossBasisPoints: 10, bandwidthMegabitsPerSecond: 1000}
  genesis: {accountsPerShard: 1000, initialBalance: 1000000, seed: test}
  protocol: {leastBalance: 10}
  node:
    image: shardnode:one
    resources:
      requests: {cpu: 2, memory: 4Gi}
      limits: {cpu: 4, memory: 8Gi}
    roles:
      - role: ChunkValidator
        resources:
          requests: {cpu: 1, memory: 2Gi}
          limits: {cpu: 2, memory: 4Gi}
  placement: {machineType: c4d-highmem-16}
  podTemplate:
    metadata: {labels: {team: chain}, annotations: {example.com/owner: somebody}}
    spec:
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: fast}
      tolerations: [{key: dedicated, value: chain, effect: NoExecute, tolerationSeconds: 60}]
      priorityClassName: high
      runtimeClassName: runc
      schedulerName: own
      topologySpreadConstraints:
        - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [shardyard.dev/shard]}
  rpcService:
    type: LoadBalancer
    annotations: {example.com/balancer: internal}
    sourceRanges: [203.0.113.0/24]
  volume: {size: 10Gi, iops: 4000, throughputMebibytesPerSecond: 200}
  tracing: {endpoint: "http://otel.example:4318"}
  load:
    profile: Ramp
    ramp:
      steps:
        - {transfersPerSecond: 1000, durationSeconds: 10}
        - {transfersPerSecond: 4000, durationSeconds: 60}
    workload: {withinShardPercent: 10}
  budget: {usdPerHour: 1000, usdPerRun: 5000}
  lifetime: {durationSeconds: 7200, action: Stop}
`

// fieldChange is a change of one field, and all that it changes, as in
// fields.Change.
type fieldChange struct {
	given   map[string]any
	to      any
	set     map[string]any
	along   []string
	in      []effect
	refused string
}

// without, as a value, takes a field away.
var without = fields.Without

type object = fields.Object

// networks are all fields of a network, and what they change.
func networks() *fields.Kind[*v1alpha1.ShardNetwork] {
	kind := &fields.Kind[*v1alpha1.ShardNetwork]{
		Definition: "shardyard.dev_shardnetworks.yaml",
		Manifest:   wholeManifest,
		Read:       func(_ *testing.T, content []byte) (*v1alpha1.ShardNetwork, error) { return manifest.Parse(content) },
		Spec:       func(network *v1alpha1.ShardNetwork) any { return network.Spec },
		Effects:    effectsOf,
		Changes:    map[string]fields.Change{},
	}
	for field, change := range fieldChanges {
		kind.Changes[field] = fields.Change{
			Given: change.given, To: change.to, Set: change.set, Along: change.along, In: change.in, Refused: change.refused,
		}
	}
	return kind
}

// Every field of the API does something: where it is changed, what the operator
// makes of it is another, in the places that are named and in no others. So a
// field that is accepted and not applied fails here, and so does one that replaces
// nodes though it should not.
func TestEveryFieldHasItsEffect(t *testing.T) {
	t.Parallel()
	networks().CheckEffects(t)
}

// Every field that has a wrong value is named by the error about it.
func TestEveryFieldIsNamedWhereItIsWrong(t *testing.T) {
	t.Parallel()
	networks().CheckErrors(t)
}
