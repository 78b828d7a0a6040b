// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// benchmarkManifest sets every field of a Benchmark, but those of the network
// that have tests of their own.
const benchmarkManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: Benchmark
metadata:
  name: bench
spec:
  network:
    template:
      spec:
        shards: 2
        producersPerShard: 1
        regions:
          - name: north
            nodes: 2
        genesis:
          accountsPerShard: 1000
  load:
    profile: Ramp
    ramp:
      steps:
        - transfersPerSecond: 100
          durationSeconds: 5
        - transfersPerSecond: 2000000
          durationSeconds: 60
  warmUpSeconds: 0
  durationSeconds: 30
  repetitions: 3
  criteria:
    - figure: ExecutedPerSecond
      atLeast: 1900
    - figure: MissedChunksPercent
      atLeast: 0
      atMost: "0.5"
    - figure: ExecutedPerSecondSpreadPercent
      atMost: 2
  variants:
    - name: before
    - name: after
      features:
        signatureBatchSize: 1
  baseline:
    figures: [ExecutedPerSecond, CPUMicrosecondsPerTransfer, RPCCPUMicrosecondsPerTransfer]
    confidencePercent: 90
    floorPercent: 0
`

func editedBenchmark(t *testing.T, edits ...edit) object {
	t.Helper()
	edited := parse(t, []byte(benchmarkManifest))
	sum := sha256.Sum256([]byte(t.Name()))
	for _, edit := range append([]edit{set("metadata.name", fmt.Sprintf("bench-%x", sum[:8]))}, edits...) {
		edit(t, edited)
	}
	return edited
}

func benchmarks(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(v1alpha1.GroupVersion.WithResource("benchmarks")).Namespace("default")
}

// createBenchmark makes a Benchmark for the time of the test.
func createBenchmark(t *testing.T, manifest object) (*unstructured.Unstructured, error) {
	t.Helper()
	created, err := benchmarks(t).Create(t.Context(), &unstructured.Unstructured{Object: manifest},
		metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		t.Cleanup(func() {
			if err := benchmarks(t).Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Errorf("clean up: %v", err)
			}
		})
	}
	return created, err
}

// What is accepted means the same everywhere: the API server and package
// manifest fill in the same defaults.
func TestValidBenchmarks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "benchmark", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	// A network that is named is not there yet, and nothing is known of what it can carry.
	named := editedBenchmark(t, set("spec.network", object{"name": "running"}), remove("spec.variants"), remove("spec.baseline"))
	counted := editedBenchmark(t, set("spec.load", fixedCount(200_000_000)),
		set("spec.criteria", []object{{"figure": "CompletionSeconds", "atMost": 20}}),
		set("spec.baseline.figures", []string{"CompletionSeconds"}))
	counted["metadata"].(object)["name"] = "counted"
	manifests := [][]byte{[]byte(benchmarkManifest), encode(t, named), encode(t, counted)}
	for _, upload := range []object{
		{"url": "gs://results"},
		{"url": "gs://my_results.example.com/a%20b/", "serviceAccountName": "uploads"},
		{"url": "s3://results/near/nightly?region=eu-central-1&endpoint=https%3A%2F%2Fstore.example.com&use_path_style=true"},
		{"url": "s3://results/a.b?endpoint=http://store.minio.svc:9000&region=x", "secretName": "writer.of.results"},
	} {
		edited := editedBenchmark(t, set("spec.upload", upload))
		edited["metadata"].(object)["name"] = fmt.Sprintf("upload-%d", len(manifests))
		manifests = append(manifests, encode(t, edited))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, content)
	}
	for _, content := range manifests {
		read, err := manifest.ParseBenchmark(content)
		if err != nil {
			t.Error(err)
			continue
		}
		created, err := createBenchmark(t, parse(t, content))
		if err != nil {
			t.Error(err)
			continue
		}
		var stored v1alpha1.Benchmark
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, &stored); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read.Spec, stored.Spec) {
			t.Errorf("package manifest reads\n%+v\nbut the API server stores\n%+v", read.Spec, stored.Spec)
		}
	}
}

func TestWrongBenchmarksAreRefused(t *testing.T) {
	t.Parallel()
	criteria := func(criteria ...object) edit { return set("spec.criteria", criteria) }
	cases := map[string]struct {
		edits []edit
		want  []refusal
	}{
		"no network": {
			[]edit{remove("spec.network.template")},
			[]refusal{{"spec.network", "exactly one of name and template is required"}},
		},
		"two networks": {
			[]edit{set("spec.network.name", "running"), remove("spec.variants"), remove("spec.baseline")},
			[]refusal{{"spec.network", "exactly one of name and template is required"}},
		},
		"a network of no name": {
			[]edit{set("spec.network", object{"name": "Running"}), remove("spec.variants"), remove("spec.baseline")},
			[]refusal{{"spec.network.name", "should match"}},
		},
		"variants of one network": {
			[]edit{set("spec.network", object{"name": "running"})},
			[]refusal{{"spec.variants", "must not be set with network.name"}},
		},
		"users of a network that is named": {
			[]edit{
				set("spec.network", object{"name": "running"}), remove("spec.variants"), remove("spec.baseline"),
				set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(nil)}),
			},
			[]refusal{{"spec.load.openLoop", "must not be set with network.name"}},
		},
		"an impossible network": {
			[]edit{set("spec.network.template.spec.regions", []object{{"name": "north", "nodes": 3}})},
			[]refusal{{"spec.network.template.spec.regions", "the regions have 3 nodes"}},
		},
		"a load of the network": {
			[]edit{set("spec.network.template.spec.load", object{"profile": "Ramp", "ramp": object{"steps": []object{
				{"transfersPerSecond": 1, "durationSeconds": 1},
			}}})},
			[]refusal{{"spec.network.template.spec.load", "the load of a run is spec.load"}},
		},
		"a lifetime of the network": {
			[]edit{set("spec.network.template.spec.lifetime", object{"durationSeconds": 60, "action": "Delete"})},
			[]refusal{{"spec.network.template.spec.lifetime", "the network of a run ends with it"}},
		},
		"no load": {
			[]edit{remove("spec.load")}, []refusal{{"spec.load", "Required value"}, notChecked},
		},
		"a closed loop without aim": {
			[]edit{set("spec.load", object{"profile": "ClosedLoop"})},
			[]refusal{{"spec.load.closedLoop", "is required when profile is ClosedLoop"}},
		},
		"a closed loop that begins above its most": {
			[]edit{set("spec.load", object{"profile": "ClosedLoop", "closedLoop": closedLoop(object{"initialTransfersPerSecond": 2_001})})},
			[]refusal{{"spec.load.closedLoop.initialTransfersPerSecond", "must be at most maxTransfersPerSecond"}},
		},
		"a closed loop at the least block time": {
			[]edit{
				set("spec.load", object{"profile": "ClosedLoop", "closedLoop": closedLoop(object{"targetBlockTimeMilliseconds": 600})}),
				set("spec.network.template.spec.protocol", object{"minBlockTimeMilliseconds": 600}),
			},
			[]refusal{{"spec.load.closedLoop.targetBlockTimeMilliseconds", "must be longer than the minBlockTimeMilliseconds"}},
		},
		"a closed loop above what producers sign": {
			[]edit{set("spec.load", object{"profile": "ClosedLoop", "closedLoop": closedLoop(object{"maxTransfersPerSecond": 2_000_001})})},
			[]refusal{{"spec.load.closedLoop.maxTransfersPerSecond", "at most 1000000 per producer"}},
		},
		"a closed loop whose load is signed before": {
			[]edit{set("spec.load", object{"profile": "ClosedLoop", "signing": "Before", "closedLoop": closedLoop(nil)})},
			[]refusal{{"spec.load.signing", "must be Live unless profile is Ramp, Constant or FixedCount"}},
		},
		"a fixed count of nothing": {
			[]edit{set("spec.load", fixedCount(0))},
			[]refusal{{"spec.load.fixedCount.transfers", "greater than or equal to 1"}},
		},
		"a fixed count without count": {
			[]edit{set("spec.load", object{"profile": "FixedCount", "signing": "Before"})},
			[]refusal{{"spec.load.fixedCount", "is required when profile is FixedCount"}},
		},
		"a fixed count of another profile": {
			[]edit{set("spec.load.fixedCount", object{"transfers": 1})},
			[]refusal{{"spec.load.fixedCount", "must not be set otherwise"}},
		},
		"a fixed count above what producers sign": {
			[]edit{set("spec.load", fixedCount(200_000_001))},
			[]refusal{{"spec.load.fixedCount.transfers", "must be at most 100000000 per producer"}},
		},
		"a fixed count that is signed when it is due": {
			[]edit{set("spec.load", object{"profile": "FixedCount", "fixedCount": object{"transfers": 1}})},
			[]refusal{{"spec.load.signing", "must be Before when profile is FixedCount"}},
		},
		"a fixed count that warms up": {
			[]edit{set("spec.load", fixedCount(1)), remove("spec.warmUpSeconds")},
			[]refusal{{"spec.warmUpSeconds", "must be 0 when the load is of profile FixedCount"}},
		},
		"the rate of a fixed count": {
			[]edit{set("spec.load", fixedCount(1)), criteria(object{"figure": "OfferedPerSecond", "atLeast": 1})},
			[]refusal{{"spec.criteria", "cannot have OfferedPerSecond with a load of profile FixedCount"}},
		},
		"what is never complete": {
			[]edit{criteria(object{"figure": "CompletionSeconds", "atMost": 1})},
			[]refusal{{"spec.criteria", "cannot have CompletionSeconds without a load of profile FixedCount"}},
		},
		"a comparison of what is never complete": {
			[]edit{set("spec.baseline.figures", []string{"CompletionSeconds"})},
			[]refusal{{"spec.baseline.figures", "cannot have CompletionSeconds without a load of profile FixedCount"}},
		},
		"a fixed count side by side": {
			[]edit{set("spec.load", fixedCount(1)), set("spec.interleaving", "SideBySide")},
			[]refusal{{"spec.interleaving", "must not be SideBySide unless the load is of profile Constant or Ramp"}},
		},
		"a search without bounds": {
			[]edit{set("spec.load", object{"profile": "Search"})},
			[]refusal{{"spec.load.search", "is required when profile is Search"}},
		},
		"a search that begins above its most": {
			[]edit{set("spec.load", object{"profile": "Search", "search": search(object{"initialTransfersPerSecond": 2_001})})},
			[]refusal{{"spec.load.search.initialTransfersPerSecond", "must be at most maxTransfersPerSecond"}},
		},
		"a search above what producers sign": {
			[]edit{set("spec.load", object{"profile": "Search", "search": search(object{"maxTransfersPerSecond": 2_000_001})})},
			[]refusal{{"spec.load.search.maxTransfersPerSecond", "at most 1000000 per producer"}},
		},
		"a search after which more is offered than producers sign": {
			[]edit{set("spec.load", object{"profile": "Search", "search": search(object{
				"maxTransfersPerSecond": 1_000_001, "offeredPercent": 200,
			})})},
			[]refusal{{"spec.load.search.maxTransfersPerSecond", "and so must be the offeredPercent of it"}},
		},
		"a search in steps of few blocks": {
			[]edit{
				set("spec.load", object{"profile": "Search", "search": search(object{"stepSeconds": 19})}),
				set("spec.network.template.spec.protocol", object{"minBlockTimeMilliseconds": 1000}),
			},
			[]refusal{{"spec.load.search.stepSeconds", "must be at least 20 times the minBlockTimeMilliseconds"}},
		},
		"what nothing searches for": {
			[]edit{criteria(object{"figure": "HeldPerSecond", "atLeast": 1})},
			[]refusal{{"spec.criteria", "cannot have HeldPerSecond or ExecutedOfHeldPercent without a load of profile Search"}},
		},
		"an open loop without users": {
			[]edit{set("spec.load", object{"profile": "OpenLoop"})},
			[]refusal{{"spec.load.openLoop", "is required when profile is OpenLoop"}},
		},
		"users of another profile": {
			[]edit{set("spec.load.openLoop", openLoop(nil))},
			[]refusal{{"spec.load.openLoop", "must not be set otherwise"}},
		},
		"an open loop in no steps": {
			[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(object{"steps": []object{}})})},
			[]refusal{{"spec.load.openLoop.steps", "should have at least 1 items"}},
		},
		"nobody": {
			[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(object{"steps": []object{{"users": 0}}})})},
			[]refusal{{"spec.load.openLoop.steps[0].users", "greater than or equal to 1"}},
		},
		"as many users twice": {
			[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(object{"steps": []object{{"users": 7}, {"users": 7}}})})},
			[]refusal{{"spec.load.openLoop.steps[1]", "Duplicate value"}},
		},
		"users who never wait": {
			[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(object{"everyMilliseconds": 0})})},
			[]refusal{{"spec.load.openLoop.everyMilliseconds", "greater than or equal to 1"}},
		},
		"more users than accounts": {
			[]edit{set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(object{"steps": []object{{"users": 2001}}})})},
			[]refusal{{"spec.load.openLoop.steps", "users must be at most the accounts of all shards"}},
		},
		"users of whom some send more": {
			[]edit{set("spec.load", object{
				"profile": "OpenLoop", "openLoop": openLoop(nil), "workload": object{"senders": "ZipfMandelbrot"},
			})},
			[]refusal{{"spec.load.workload.senders", "must be Uniform when profile is OpenLoop"}},
		},
		"users for more than a day": {
			[]edit{
				set("spec.load", object{"profile": "OpenLoop", "openLoop": openLoop(nil)}),
				set("spec.warmUpSeconds", 60), set("spec.durationSeconds", 86_341),
			},
			[]refusal{{"spec.durationSeconds", "must be at most 86400 together with warmUpSeconds"}},
		},
		"what no client sees": {
			[]edit{criteria(object{"figure": "ClientSuccessPercent", "atLeast": 98})},
			[]refusal{{"spec.criteria", "cannot have figures of clients without a load of profile OpenLoop"}},
		},
		"a share that cannot leave the shard": {
			[]edit{
				set("spec.network.template.spec.shards", 1),
				set("spec.network.template.spec.producersPerShard", 2),
				set("spec.load.workload", object{"withinShardPercent": 50}),
			},
			[]refusal{{"spec.load.workload.withinShardPercent", "must be 100 with one shard"}},
		},
		"more load than producers sign": {
			[]edit{set("spec.load.ramp.steps", []object{{"transfersPerSecond": 2_000_001, "durationSeconds": 1}})},
			[]refusal{{"spec.load.ramp.steps", "at most 1000000 per producer"}},
		},
		"a moment": {
			[]edit{set("spec.durationSeconds", 4)}, []refusal{{"spec.durationSeconds", "greater than or equal to 5"}},
		},
		"negative warm-up": {
			[]edit{set("spec.warmUpSeconds", -1)}, []refusal{{"spec.warmUpSeconds", "greater than or equal to 0"}},
		},
		"too often": {
			[]edit{set("spec.repetitions", 101)}, []refusal{{"spec.repetitions", "less than or equal to 100"}},
		},
		"unknown figure": {
			[]edit{criteria(object{"figure": "Luck", "atLeast": 1})},
			[]refusal{{"spec.criteria[0].figure", `Unsupported value: "Luck"`}, notChecked},
		},
		"a criterion without a bound": {
			[]edit{criteria(object{"figure": "CPUCores"})},
			[]refusal{{"spec.criteria[0]", "needs atLeast or atMost"}},
		},
		"a criterion that nothing meets": {
			[]edit{criteria(object{"figure": "CPUCores", "atLeast": "1500m", "atMost": 1})},
			[]refusal{{"spec.criteria[0].atMost", "must not be less than atLeast"}},
		},
		"a figure with a fraction of an exponent": {
			[]edit{criteria(object{"figure": "CPUCores", "atLeast": "1e1.5", "atMost": "1E1.5"})},
			[]refusal{{"spec.criteria[0].atLeast", "should match"}, {"spec.criteria[0].atMost", "should match"}},
		},
		"a figure with an exponent of many digits": {
			[]edit{criteria(object{"figure": "CPUCores", "atLeast": "1e4000000", "atMost": "1e-4000000"})},
			[]refusal{{"spec.criteria[0].atLeast", "should match"}, {"spec.criteria[0].atMost", "should match"}},
		},
		"a figure beyond all": {
			[]edit{criteria(object{"figure": "CPUCores", "atLeast": "-1.1E", "atMost": "1000E"})},
			[]refusal{
				{"spec.criteria[0].atLeast", "must be between -1E and 1E"}, {"spec.criteria[0].atMost", "must be between -1E and 1E"},
			},
		},
		"two criteria for one figure": {
			[]edit{criteria(object{"figure": "CPUCores", "atMost": 1}, object{"figure": "CPUCores", "atLeast": 1})},
			[]refusal{{"spec.criteria[1]", "Duplicate value"}},
		},
		"the spread of one run": {
			[]edit{set("spec.repetitions", 1)},
			[]refusal{{"spec.criteria", "cannot have ExecutedPerSecondSpreadPercent with one repetition"}},
		},
		"side by side with nothing": {
			[]edit{remove("spec.variants"), remove("spec.baseline"), set("spec.interleaving", "SideBySide")},
			[]refusal{{"spec.interleaving", "must not be set without variants"}},
		},
		"side by side until a rate is found": {
			[]edit{
				set("spec.load", object{"profile": "ClosedLoop", "closedLoop": closedLoop(nil)}), set("spec.interleaving", "SideBySide"),
			},
			[]refusal{{"spec.interleaving", "must not be SideBySide unless the load is of profile Constant or Ramp"}},
		},
		"all at once": {
			[]edit{set("spec.interleaving", "AllAtOnce")},
			[]refusal{{"spec.interleaving", `Unsupported value: "AllAtOnce"`}, notChecked},
		},
		"one variant": {
			[]edit{set("spec.variants", []object{{"name": "before"}})},
			[]refusal{{"spec.variants", "should have at least 2 items"}},
		},
		"three variants": {
			[]edit{set("spec.variants", []object{{"name": "a"}, {"name": "b"}, {"name": "c"}})},
			[]refusal{{"spec.variants", "must have at most 2 items"}, notChecked},
		},
		"variants of one name": {
			[]edit{set("spec.variants", []object{{"name": "a"}, {"name": "a"}})},
			[]refusal{{"spec.variants[1]", "Duplicate value"}},
		},
		"an image of no name": {
			[]edit{set("spec.variants", []object{{"name": "a"}, {"name": "b", "image": "two words"}})},
			[]refusal{{"spec.variants[1].image", "should match"}},
		},
		"two baselines": {
			[]edit{set("spec.baseline.artifact", object{"claimName": "last-records", "path": "artifact"})},
			[]refusal{{"spec.baseline.artifact", "must not be set with variants"}},
		},
		"variants that nobody compares": {
			[]edit{remove("spec.baseline")}, []refusal{{"spec.baseline", "is required with two variants"}},
		},
		"a figure that tells nothing of a build": {
			[]edit{set("spec.baseline.figures", []string{"HostStolenPercent"})},
			[]refusal{{"spec.baseline.figures", "must be figures that can be compared"}},
		},
		"a sure thing": {
			[]edit{set("spec.baseline.confidencePercent", 100)},
			[]refusal{{"spec.baseline.confidencePercent", "less than or equal to 99"}},
		},
		"a folder": {
			[]edit{set("spec.upload", object{"url": "file:///results"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"credentials in a URL": {
			[]edit{set("spec.upload", object{"url": "s3://key:secret@results"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"a prefix that leads out": {
			[]edit{set("spec.upload", object{"url": "s3://results/../others"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"two slashes": {
			[]edit{set("spec.upload", object{"url": "s3://results//nightly"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"an escape that is none": {
			[]edit{set("spec.upload", object{"url": "s3://results/100%"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"an escaped prefix that leads out": {
			[]edit{set("spec.upload", object{"url": "s3://results/%2e%2e/others"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"a prefix that becomes longer than a status takes": {
			[]edit{set("spec.upload", object{"url": "s3://results/結果"})},
			[]refusal{{"spec.upload.url", "must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"}},
		},
		"an endpoint without a scheme": {
			[]edit{set("spec.upload", object{"url": "s3://results?endpoint=minio:9000"})},
			[]refusal{{"spec.upload.url", "with values that these take"}},
		},
		"a switch that is neither": {
			[]edit{set("spec.upload", object{"url": "s3://results?use_path_style=yes"})},
			[]refusal{{"spec.upload.url", "with values that these take"}},
		},
		"a parameter twice": {
			[]edit{set("spec.upload", object{"url": "s3://results?region=a&use_path_style=true&region=b"})},
			[]refusal{{"spec.upload.url", "must have no parameter more than once"}},
		},
		"a parameter that holds a secret": {
			[]edit{set("spec.upload", object{"url": "s3://results?region=eu-central-1&secret_access_key=secret"})},
			[]refusal{{"spec.upload.url", "must have no parameters but endpoint, kmskeyid"}},
		},
		"a parameter of the other cloud": {
			[]edit{set("spec.upload", object{"url": "gs://results?region=eu-central-1"})},
			[]refusal{{"spec.upload.url", "must have no parameters but endpoint, kmskeyid"}},
		},
		"no place": {
			[]edit{set("spec.upload", object{"secretName": "writer"})},
			[]refusal{{"spec.upload.url", "Required value"}, notChecked},
		},
		"a long place": {
			[]edit{set("spec.upload", object{"url": "s3://results/" + strings.Repeat("n", 1024)})},
			[]refusal{{"spec.upload.url", "may not be more than 1024"}, notChecked},
		},
		"a Secret of no name": {
			[]edit{set("spec.upload", object{"url": "s3://results", "secretName": "two words"})},
			[]refusal{{"spec.upload.secretName", "should match"}},
		},
		"a ServiceAccount of no name": {
			[]edit{set("spec.upload", object{"url": "s3://results", "serviceAccountName": "two words"})},
			[]refusal{{"spec.upload.serviceAccountName", "should match"}},
		},
		"two rights": {
			[]edit{set("spec.upload", object{"url": "s3://results", "secretName": "a", "serviceAccountName": "b"})},
			[]refusal{{"spec.upload.serviceAccountName", "must not be set with secretName"}},
		},
		"a name that is too long": {
			[]edit{set("metadata.name", strings.Repeat("n", 41))},
			[]refusal{{"metadata", "metadata.name must be at most 40 characters"}},
		},
		"a name with a dot": {
			[]edit{set("metadata.name", "my.bench")}, []refusal{{"metadata", "metadata.name must be a DNS label"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := editedBenchmark(t, test.edits...)
			_, byReader := manifest.ParseBenchmark(encode(t, wrong))
			_, byServer := createBenchmark(t, wrong)
			checkRefusals(t, refusalsOfServer(t, byServer), refusalsOfReader(t, byReader), test.want)
		})
	}
}

// What was measured stays what the spec says.
func TestBenchmarksDoNotChange(t *testing.T) {
	t.Parallel()
	created, err := createBenchmark(t, editedBenchmark(t))
	if err != nil {
		t.Fatal(err)
	}
	set("spec.durationSeconds", 31)(t, created.Object)
	_, err = benchmarks(t).Update(t.Context(), created, metav1.UpdateOptions{})
	got := refusalsOfServer(t, err)
	checkRefusals(t, got, got, []refusal{{"spec", "another experiment is another Benchmark"}})
}
