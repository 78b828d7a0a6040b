// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/otlp"
	"github.com/shardyard/shardyard/internal/trace"
)

// TestCosts compares nodes that are watched with nodes that are not, with COSTS set. It
// wants a machine that does nothing else.
func TestCosts(t *testing.T) {
	if os.Getenv("COSTS") == "" {
		t.Skip("COSTS is not set: make costs sets it")
	}
	receiver := receiveSpans(t)
	for _, test := range []struct {
		name string
		// percent is how much it may cost; nothing for what is only stated.
		percent *int32
		watched v1alpha1.BenchmarkVariant
		// profile is the kind of the profile that is taken through each measurement.
		profile chain.ProfileKind
	}{
		{"one height in a hundred traced", ptr.To[int32](1), v1alpha1.BenchmarkVariant{Tracing: receiver.sampling(100)}, ""},
		{"all heights traced", ptr.To[int32](5), v1alpha1.BenchmarkVariant{Tracing: receiver.sampling(10_000)}, ""},
		{"log level Warn", nil, v1alpha1.BenchmarkVariant{Log: &v1alpha1.NodeLog{Level: v1alpha1.LogLevelWarn}}, ""},
		{"log level Debug", nil, v1alpha1.BenchmarkVariant{Log: &v1alpha1.NodeLog{Level: v1alpha1.LogLevelDebug}}, ""},
		{"log level Trace", nil, v1alpha1.BenchmarkVariant{Log: &v1alpha1.NodeLog{Level: v1alpha1.LogLevelTrace}}, ""},
		{"CPU profiles", ptr.To[int32](3), v1alpha1.BenchmarkVariant{}, chain.ProfileCPU},
		{"allocation profiles", ptr.To[int32](3), v1alpha1.BenchmarkVariant{}, chain.ProfileAllocations},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := receiver.spans.Load()
			compareWatched(t, test.watched, test.percent, test.profile)
			if traced := receiver.spans.Load() - before; (traced > 0) != (test.watched.Tracing != nil) {
				t.Errorf("%d spans came", traced)
			}
		})
	}
}

// compareWatched compares nodes that are watched as a variant says, and by profiles of a
// kind, with others. They may cost so much more; without a bound, what they cost is only
// stated.
func compareWatched(t *testing.T, watched v1alpha1.BenchmarkVariant, percent *int32, profile chain.ProfileKind) {
	t.Helper()
	content, err := os.ReadFile("../../config/samples/benchmark/tracing.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var benchmark v1alpha1.Benchmark
	if err := yaml.UnmarshalStrict(content, &benchmark); err != nil {
		t.Fatal(err)
	}
	watched.Name = "watched"
	benchmark.Name = "costs"
	benchmark.Spec.Variants = []v1alpha1.BenchmarkVariant{{Name: "unwatched"}, watched}
	benchmark.Spec.Baseline.FloorPercent = ptr.To(ptr.Deref(percent, 0))
	if content, err = yaml.Marshal(benchmark); err != nil {
		t.Fatal(err)
	}
	manifest, folder := filepath.Join(t.TempDir(), "costs.yaml"), filepath.Join(t.TempDir(), "costs")
	if err := os.WriteFile(manifest, content, 0o600); err != nil {
		t.Fatal(err)
	}
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "run", "-f", manifest, "-o", "json", "--artifact", folder, "--shardnode", programs.shardnode}
	if profile != "" {
		args = append(args, "--profile", string(profile), "--profile-variant", watched.Name)
	}
	_, code := shardyardWithin(t, 2*comparisonTakes, args...)
	made, err := artifact.Read(t.Context(), folder)
	if err != nil {
		t.Fatalf("after exit code %d: %v", code, err)
	}
	if made.Comparison == nil {
		t.Fatalf("nothing is compared: %+v", made.Verdict)
	}
	for _, change := range made.Comparison.Changes {
		t.Logf("%s: %+v", change.Figure, change)
	}
	for i := range made.Runs {
		if run := &made.Runs[i]; (run.Profile != nil) != (profile != "" && run.Variant == watched.Name) {
			t.Errorf("run %d of %s has the profile %+v", run.Repetition, run.Variant, run.Profile)
		}
	}
	if percent != nil && made.Verdict.Outcome != result.Succeeded {
		t.Errorf("the verdict is %+v", made.Verdict)
	}
}

// receiver takes spans, as a collector does, and counts them.
type receiver struct {
	endpoint string
	spans    atomic.Int64
}

// sampling has spans of so many of 10,000 heights sent to the receiver.
func (r *receiver) sampling(basisPoints int32) *v1alpha1.TracingSpec {
	return &v1alpha1.TracingSpec{Endpoint: r.endpoint, SampleBasisPoints: basisPoints}
}

func receiveSpans(t *testing.T) *receiver {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{endpoint: "http://" + listener.Addr().String()}
	server := &http.Server{ReadTimeout: 10 * time.Second, Handler: otlp.Handler(func(_ []byte, spans []trace.Span) error {
		r.spans.Add(int64(len(spans)))
		return nil
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}
