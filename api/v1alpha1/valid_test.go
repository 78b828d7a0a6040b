// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

// minimalManifest leaves everything to defaults that has one.
const minimalManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: minimal
spec:
  shards: 1
  producersPerShard: 1
`

// What is accepted means the same everywhere: the API server and package
// manifest fill in the same defaults, and the network can be planned.
func TestValidManifests(t *testing.T) {
	t.Parallel()
	manifests := map[string][]byte{
		"minimal":  []byte(minimalManifest),
		"complete": []byte(validManifest),
		"an Ingress": encode(t, edited(t, routed, set("spec.rpcRoute.ingress", object{
			"className": "nginx", "tlsSecretName": "rpc-tls",
		}))),
		"an HTTPRoute": encode(t, edited(t, routed, set("spec.rpcRoute.type", "HTTPRoute"), set("spec.rpcRoute.httpRoute", object{
			"parentRefs": []object{{"name": "public", "namespace": "edge"}, {"name": "public", "sectionName": "https"}},
		}))),
	}
	samples, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	clients, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "clients", "*.yaml"))
	if err != nil || len(clients) == 0 {
		t.Fatalf("there are no samples of networks with clients: %v", err)
	}
	for _, path := range append(samples, clients...) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		manifests[filepath.Base(path)] = content
	}

	for name, content := range manifests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := manifest.Parse(content)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := topology.New(read); err != nil {
				t.Error(err)
			}

			asked := parse(t, content)
			named(t)(t, asked)
			created, err := create(t, asked)
			if err != nil {
				t.Fatal(err)
			}
			var stored v1alpha1.ShardNetwork
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, &stored); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(read.Spec, stored.Spec) {
				t.Errorf("package manifest reads\n%+v\nbut the API server stores\n%+v", read.Spec, stored.Spec)
			}
		})
	}
}

// manyRegions are as many regions as there can be, of names as long as can be.
func manyRegions() []object {
	regions := make([]object, 0, 16)
	for i := range 16 {
		regions = append(regions, object{"name": fmt.Sprintf("%s%02d", strings.Repeat("r", 61), i), "nodes": 1})
	}
	return regions
}

// manyLinks are all links between them.
func manyLinks() []object {
	var links []object
	regions := manyRegions()
	for i, from := range regions {
		for _, to := range regions[i:] {
			links = append(links, object{"between": []any{from["name"], to["name"]}, "delayMilliseconds": 300, "lossBasisPoints": 1000})
		}
	}
	return links
}

// Bounds are inclusive: the largest values that the messages name are accepted.
func TestBoundsAreInclusive(t *testing.T) {
	t.Parallel()
	cases := map[string][]edit{
		"name of 40 characters": {set("metadata.name", "n123456789012345678901234567890123456789")},
		"largest supply": {
			// 4096 * (2^52 - 1)
			set("spec.genesis.accountsPerShard", 1024),
			set("spec.genesis.initialBalance", int64(1)<<52-1),
		},
		"most accounts": {
			set("spec.shards", 16),
			set("spec.regions", []object{{"name": "north", "nodes": 33}}),
			set("spec.genesis.accountsPerShard", 625_000),
		},
		"most validators": {
			set("spec.shards", 300),
			set("spec.producersPerShard", 3),
			set("spec.chunkValidators", 100),
			set("spec.regions", []object{{"name": "north", "nodes": 1000}}),
		},
		"most mandates": {
			set("spec.shards", 100),
			set("spec.regions", []object{{"name": "north", "nodes": 201}}),
			set("spec.protocol.mandatesPerShard", 10_000),
		},
		"largest chunks": {set("spec.protocol.maxTransactionsPerChunk", 32_768)},
		"largest chunks where accounts are removed": {
			set("spec.protocol.maxTransactionsPerChunk", 21_475),
			set("spec.protocol.leastBalance", 1_000_000),
			set("spec.protocol.transferFee", int64(1)<<62),
		},
		"largest chunks with a lag of two": {
			set("spec.protocol.executionLag", 2), set("spec.protocol.maxTransactionsPerChunk", 11_938),
		},
		"largest chunks with a lag of three": {
			set("spec.protocol.executionLag", 3), set("spec.protocol.maxTransactionsPerChunk", 6087),
		},
		"largest chunks with a lag of four": {
			set("spec.protocol.executionLag", 4), set("spec.protocol.maxTransactionsPerChunk", 3689),
		},
		"largest chunks with a lag of two where accounts are removed": {
			set("spec.protocol.executionLag", 2), set("spec.protocol.leastBalance", 1),
			set("spec.protocol.maxTransactionsPerChunk", 8295),
		},
		"largest chunks with a lag of three where accounts are removed": {
			set("spec.protocol.executionLag", 3), set("spec.protocol.leastBalance", 1),
			set("spec.protocol.maxTransactionsPerChunk", 4497),
		},
		"largest chunks with a lag of four where accounts are removed": {
			set("spec.protocol.executionLag", 4), set("spec.protocol.leastBalance", 1),
			set("spec.protocol.maxTransactionsPerChunk", 2850),
		},
		"most links": {
			set("spec.shards", 15),
			set("spec.producersPerShard", 1),
			set("spec.regions", manyRegions()),
			set("spec.links", manyLinks()),
			remove("spec.load"),
		},
		"without limits": {
			set("spec.protocol.congestionControl", "Disabled"),
			set("spec.node.features.adaptiveChunkSize", "Disabled"),
		},
		"shortest epoch": {set("spec.protocol.epochLengthBlocks", 16)},
		"no regions":     {remove("spec.regions")},
		"no chunk validators": {
			set("spec.chunkValidators", 0),
			remove("spec.node.roles"),
			set("spec.regions", []object{{"name": "north", "nodes": 8}}),
		},
		"rpc nodes": {
			set("spec.rpcNodes", 100),
			set("spec.regions", []object{{"name": "north", "nodes": 109}}),
		},
		"archives": {
			set("spec.archiveNodes", 10),
			set("spec.node.features.saveUntrackedChunkParts", "Enabled"),
			set("spec.regions", []object{{"name": "north", "nodes": 19}}),
		},
		"requests at their limits": {
			set("spec.node.resources.requests", object{"cpu": 2, "memory": "2048Mi"}),
		},
		"largest resources": {
			set("spec.node.resources.limits", object{"cpu": 1024, "memory": "16Ti"}),
		},
		"smallest resources": {
			set("spec.node.resources.requests", object{"cpu": "10m", "memory": "64Mi"}),
		},
		"largest volume":  {set("spec.volume.size", "64Ti")},
		"smallest volume": {set("spec.volume.size", "1Gi")},
		"existing class":  {set("spec.volume", object{"size": "1Gi", "storageClassName": "fast.example"})},
		"retention of one snapshot": {
			set("spec.node.storage", object{"snapshotIntervalBlocks": 7, "retentionBlocks": 7}),
		},
		"whole chunk as a batch": {set("spec.node.features.signatureBatchSize", 0)},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accepted := edited(t, append([]edit{named(t)}, edits...)...)
			if _, err := manifest.Parse(encode(t, accepted)); err != nil {
				t.Errorf("package manifest says %v", err)
			}
			if _, err := create(t, accepted); err != nil {
				t.Errorf("the API server says %v", err)
			}
		})
	}
}
