// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// comparisonTakes is how long a comparison of two builds may take at most.
const comparisonTakes = 5 * time.Minute

// TestVerdicts checks that the comparison of two builds tells a node that is
// three percent slower, which BURDENED names, and finds the node no worse than
// itself, COMPARISONS times. It wants a machine that does nothing else.
func TestVerdicts(t *testing.T) {
	burdened := os.Getenv("BURDENED")
	if burdened == "" {
		t.Skip("BURDENED names no node: make verdicts builds one")
	}
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("burdened", func(t *testing.T) { compareBuilds(t, programs.shardnode, burdened, result.Regressed) })
	for i := range number(t, "COMPARISONS", 20) {
		t.Run(fmt.Sprintf("itself-%d", i+1), func(t *testing.T) {
			compareBuilds(t, programs.shardnode, programs.shardnode, result.Succeeded)
		})
	}
}

func compareBuilds(t *testing.T, before, after string, want result.Outcome) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "comparison")
	start := time.Now()
	_, code := shardyardWithin(t, 2*comparisonTakes, "bench", "run", "-f", "../../config/samples/benchmark/two-builds-local.yaml",
		"-o", "json", "--artifact", folder, "--shardnode", "before="+before, "--shardnode", "after="+after)
	took := time.Since(start).Round(time.Second)
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
	if stolen := made.Candidate().FigureOf(v1alpha1.FigureHostStolenPercent); stolen != nil {
		t.Logf("%s %s, stolen by the host %v%%", took, made.Verdict.Outcome, stolen.Value)
	}
	if made.Verdict.Outcome != want {
		t.Errorf("the verdict is %+v, want %s", made.Verdict, want)
	}
	if took > comparisonTakes {
		t.Errorf("took %s, want at most %s", took, comparisonTakes)
	}
}
