// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/manifest"
)

// withQuantities is the benchmark with values where quantities are expected: of
// what comes out, and of the network.
func withQuantities(criterion, memory, size string) []byte {
	content := strings.Replace(benchmark, "        genesis:\n", fmt.Sprintf(
		"        node: {resources: {limits: {memory: %s}}}\n        volume: {size: %s}\n        genesis:\n", memory, size), 1)
	return fmt.Appendf([]byte(content), "  criteria: [{figure: CPUCores, atLeast: %s}]\n", criterion)
}

// quantityLike draws what looks like a quantity, more or less.
func quantityLike() *rapid.Generator[string] {
	number := `[0-9]{1,19}|[0-9]{0,28}\.?[0-9]{0,14}`
	suffix := `|[KMGTPEkmnu]i?|[eE][+-]?[0-9]{0,7}|[eE][+-]?[0-9]{0,2}\.[0-9]{0,2}`
	return rapid.OneOf(
		rapid.StringMatching(`"[+-]?(`+number+`)(`+suffix+`)"`),
		rapid.StringMatching(`"[0-9]{1,3}(Gi|G|e9|e\+1[0-9]?)"`),
		rapid.StringMatching(`-?[1-9][0-9]{0,18}`),
	)
}

// One object that nobody can decode keeps the operator from all others. What is
// accepted is also accepted as the operator writes it into an object of its own, and
// means the same there.
func TestQuantitiesThatAreAcceptedCanBeDecoded(t *testing.T) {
	t.Parallel()
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		content := withQuantities(quantityLike().Draw(t, "criterion"), quantityLike().Draw(t, "memory"), quantityLike().Draw(t, "size"))
		checkDecodes(t, content, &accepted)
		content = withQuantities(quantityLike().Draw(t, "only criterion"), "64Mi", "1Gi")
		checkDecodes(t, content, &accepted)
	})
	if accepted == 0 {
		t.Error("none was accepted")
	}
}

func checkDecodes(t *rapid.T, content []byte, accepted *int) {
	parsed, err := manifest.ParseBenchmark(content)
	if invalid := new(manifest.InvalidError); errors.As(err, &invalid) {
		return
	}
	if err != nil {
		t.Fatalf("%s\nis accepted, and cannot be decoded: %v", content, err)
	}
	*accepted++
	written, err := yaml.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	again, err := manifest.ParseBenchmark(written)
	if err != nil {
		t.Fatalf("%s\nis accepted, and is not as it is written: %v", content, err)
	}
	if was, is := parsed.Spec.Criteria[0].AtLeast, again.Spec.Criteria[0].AtLeast; was.Cmp(*is) != 0 {
		t.Fatalf("%s\nhas the criterion %v, and once written %v", content, was, is)
	}
}

// What people write is accepted.
func TestQuantitiesInUseAreAccepted(t *testing.T) {
	t.Parallel()
	for _, criterion := range []string{
		"0", "1", "-1", `"1"`, `"+1"`, `"-0.5"`, `".5"`, `"1."`, `"500m"`, `"1Ki"`, `"1k"`, `"1e3"`, `"1E3"`, `"1e+15"`, `"1.5e-3"`, `"1E"`,
		`"100n"`, `"0e99"`, "1000000000000000000",
	} {
		if _, err := manifest.ParseBenchmark(withQuantities(criterion, `"64Mi"`, "2147483648")); err != nil {
			t.Errorf("%s: %v", criterion, err)
		}
	}
}

// A rule is evaluated of what the pattern refuses as well.
func TestHugeExponentsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	if _, err := manifest.ParseBenchmark([]byte(benchmark)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 20 {
		_, err := manifest.ParseBenchmark(withQuantities(`"1e4000000"`, `"1E+4000000"`, `"1e-4000000"`))
		if invalid := new(manifest.InvalidError); !errors.As(err, &invalid) || len(invalid.Fields) != 3 {
			t.Fatalf("refused with %v", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

// What is stored in a form that is refused of a new object can be kept while other
// things change, and corrected, and still does not shrink.
func TestStoredQuantitiesAreNoObstacle(t *testing.T) {
	t.Parallel()
	withSize := func(size string) []byte {
		return fmt.Appendf(replaced(t, "shards: 2", "shards: 2\n  update: {deadlineSeconds: 30}"), "  volume: {size: %q}\n", size)
	}
	old, err := manifest.Parse([]byte(network + "  volume: {size: 10e9}\n"))
	if err != nil {
		t.Fatal(err)
	}
	old.Spec.Volume.Size = resource.MustParse("10e009")
	for _, size := range []string{"10e009", "10G", "20e9"} {
		if _, err := manifest.ParseUpdate(withSize(size), old); err != nil {
			t.Errorf("%s: %v", size, err)
		}
	}
	for size, reason := range map[string]string{"10e0009": "should match", "9e9": "must be at least 10e009", "1e1.5": "should match"} {
		if _, err := manifest.ParseUpdate(withSize(size), old); !refuses(err, "spec.volume.size", reason) {
			t.Errorf("%s: %v", size, err)
		}
	}
}
