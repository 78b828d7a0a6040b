// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/manifest"
)

// validManifest sets every field of a ShardNetwork.
const validManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: net
spec:
  shards: 4
  producersPerShard: 2
  chunkValidators: 1
  rpcNodes: 0
  archiveNodes: 0
  regions:
    - name: north
      nodes: 5
    - name: south
      nodes: 4
  genesis:
    accountsPerShard: 1000
    initialBalance: 1000000
    seed: test
  protocol:
    minBlockTimeMilliseconds: 600
    maxTransactionsPerChunk: 30000
    mandatesPerShard: 6
    epochLengthBlocks: 1000
    congestionControl: Enabled
    transferFee: 0
    leastBalance: 0
  node:
    image: registry.example.com/shardnode:1.0.0
    imagePullPolicy: IfNotPresent
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
      limits:
        cpu: 2
        memory: 2Gi
    roles:
      - role: ChunkValidator
        resources:
          requests:
            cpu: 250m
            memory: 512Mi
          limits:
            cpu: 1
            memory: 1Gi
    features:
      signatureBatchSize: 128
      mempoolCapacity: 50000
      mempoolMebibytes: 16
      adaptiveChunkSize: Enabled
      saveUntrackedChunkParts: Enabled
    storage:
      engine: Log
      snapshotIntervalBlocks: 500
      retentionBlocks: 5000
    log:
      level: Debug
  placement:
    machineType: c4d-highmem-16
    exclusivity: Shared
    regionAffinity: Required
    nodeTuning: high-throughput
  podTemplate:
    metadata:
      labels:
        team: chain
      annotations:
        example.com/owner: somebody
    spec:
      imagePullSecrets:
        - name: registry
      nodeSelector:
        disk: fast
      tolerations:
        - key: dedicated
          operator: Equal
          value: chain
          effect: NoExecute
          tolerationSeconds: 60
      priorityClassName: high
      runtimeClassName: runc
      schedulerName: default-scheduler
      topologySpreadConstraints:
        - topologyKey: topology.kubernetes.io/zone
          maxSkew: 2
          whenUnsatisfiable: ScheduleAnyway
          matchLabelKeys:
            - shardyard.dev/shard
  rpcService:
    type: LoadBalancer
    annotations:
      example.com/balancer: internal
    sourceRanges:
      - 203.0.113.0/24
      - 2001:db8::/32
  volume:
    size: 10Gi
    iops: 3000
    throughputMebibytesPerSecond: 140
    retention: Delete
  tcp:
    profile: NodeDefault
  update:
    atHeight: 1000
    maxUnavailable: 3
    onTrouble: RollBack
    deadlineSeconds: 300
    onlyCopies: Discard
  healing:
    mode: Report
    lostVolumes: Report
    stuckAfterSeconds: 600
  load:
    profile: Ramp
    ramp:
      steps:
        - transfersPerSecond: 0
          durationSeconds: 5
        - transfersPerSecond: 8000000
          durationSeconds: 60
  budget:
    usdPerHour: 600
    usdPerRun: 5000
  lifetime:
    durationSeconds: 7200
    action: Stop
`

// aRoute leads to rpc nodes by an Ingress.
var aRoute = object{
	"type": "Ingress", "hostnames": []string{"rpc.example.com"}, "sourceNamespaces": []string{"ingress-nginx"},
}

// routed gives the valid manifest an rpc node and a route to it.
func routed(t *testing.T, manifest object) {
	t.Helper()
	for _, edit := range []edit{remove("spec.regions"), set("spec.rpcNodes", 1), set("spec.rpcRoute", aRoute)} {
		edit(t, manifest)
	}
}

// edit is a change of a manifest.
type edit func(t *testing.T, manifest object)

// object is a manifest or a part of one.
type object = map[string]any

// set gives a field, named by its path, a value.
func set(path string, value any) edit {
	return func(t *testing.T, manifest object) {
		t.Helper()
		// Values take the types that they have after decoding: int64, not int.
		content, err := yaml.Marshal(object{"value": value})
		if err != nil {
			t.Fatal(err)
		}
		if err := unstructured.SetNestedField(manifest, parse(t, content)["value"], strings.Split(path, ".")...); err != nil {
			t.Fatal(err)
		}
	}
}

// remove takes a field, named by its path, away.
func remove(path string) edit {
	return func(t *testing.T, manifest object) {
		t.Helper()
		fields := strings.Split(path, ".")
		if _, found, err := unstructured.NestedFieldNoCopy(manifest, fields...); err != nil || !found {
			t.Fatalf("there is no %s to remove: %v", path, err)
		}
		unstructured.RemoveNestedField(manifest, fields...)
	}
}

func parse(t *testing.T, content []byte) object {
	t.Helper()
	converted, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		t.Fatal(err)
	}
	var parsed object
	if err := json.Unmarshal(converted, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// edited is the valid manifest with changes.
func edited(t *testing.T, edits ...edit) object {
	t.Helper()
	manifest := parse(t, []byte(validManifest))
	for _, edit := range edits {
		edit(t, manifest)
	}
	return manifest
}

// named gives a network a name that no other test uses.
func named(t *testing.T) edit {
	t.Helper()
	sum := sha256.Sum256([]byte(t.Name()))
	return set("metadata.name", fmt.Sprintf("net-%x", sum[:8]))
}

func encode(t *testing.T, manifest object) []byte {
	t.Helper()
	content, err := yaml.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// refusal is one error about one field.
type refusal struct {
	Field  string
	Reason string
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// refusalsOfServer lists what the API server says is wrong.
func refusalsOfServer(t *testing.T, err error) []refusal {
	t.Helper()
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case apierrors.IsInvalid(err) && errors.As(err, &status):
		var refusals []refusal
		for _, cause := range status.Status().Details.Causes {
			refusals = append(refusals, refusal{Field: cause.Field, Reason: cause.Message})
		}
		return refusals
	case apierrors.IsBadRequest(err) && unknownField.MatchString(err.Error()):
		// The strict decoder names unknown fields in a text of its own.
		var refusals []refusal
		for _, match := range unknownField.FindAllStringSubmatch(err.Error(), -1) {
			refusals = append(refusals, refusal{Field: match[1], Reason: "Forbidden: unknown field"})
		}
		return refusals
	default:
		t.Fatalf("the API server fails for another reason: %v", err)
		return nil
	}
}

// refusalsOfReader lists what package manifest says is wrong.
func refusalsOfReader(t *testing.T, err error) []refusal {
	t.Helper()
	if err == nil {
		return nil
	}
	var invalid *manifest.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("the manifest is refused for another reason: %v", err)
	}
	var refusals []refusal
	for _, err := range invalid.Fields {
		refusals = append(refusals, refusal{Field: err.Field, Reason: err.ErrorBody()})
	}
	return refusals
}

// checkRefusals compares what the API server and package manifest say with each
// other, and with the paths and parts of reasons that are wanted.
func checkRefusals(t *testing.T, server, reader, want []refusal) {
	t.Helper()
	// The API server's order is that of maps.
	for _, refusals := range [][]refusal{server, reader, want} {
		slices.SortFunc(refusals, func(a, b refusal) int {
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason))
		})
	}
	if !slices.Equal(server, reader) {
		t.Errorf("the API server says\n%q\nbut package manifest says\n%q", server, reader)
	}
	if len(server) != len(want) {
		t.Fatalf("the API server says\n%q\nwant\n%q", server, want)
	}
	for i := range want {
		if server[i].Field != want[i].Field || !strings.Contains(server[i].Reason, want[i].Reason) {
			t.Errorf("the API server says %q, want %q", server[i], want[i])
		}
	}
}

// closedLoop is a load that a controller finds, with some fields changed.
func closedLoop(changed object) object {
	load := object{"targetBlockTimeMilliseconds": 1500, "initialTransfersPerSecond": 1000, "maxTransfersPerSecond": 2000}
	maps.Copy(load, changed)
	return load
}

// fixedCount is a load of so many transfers.
func fixedCount(transfers int64) object {
	return object{"profile": "FixedCount", "fixedCount": object{"transfers": transfers}, "signing": "Before"}
}

// openLoop is a load of users, with some fields changed.
func openLoop(changed object) object {
	load := object{"everyMilliseconds": 5000, "steps": []object{{"users": 500}, {"users": 2000}}}
	maps.Copy(load, changed)
	return load
}

// search is a load that looks for the highest rate, with some fields changed.
func search(changed object) object {
	load := object{"initialTransfersPerSecond": 1000, "maxTransfersPerSecond": 2000}
	maps.Copy(load, changed)
	return load
}
