// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/local"
)

func sideBySide(t *testing.T, out io.Writer) *Options {
	t.Helper()
	options := &Options{Benchmark: benchmark(t, "two-builds-local"), Progress: out}
	options.Benchmark.Spec.Interleaving = v1alpha1.InterleavingSideBySide
	options.Benchmark.Spec.Repetitions = 2
	return options
}

// Both runs of a repetition are there at the same time, and the result has them in
// their order, whichever ends first.
func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	options := sideBySide(t, &out)
	made := &result.Result{NotApplied: []string{"spec.volume does not apply here"}}
	there := make(chan struct{})
	if err := options.recordAll(t.Context(), made, func(
		_ context.Context, run bench.PlannedRun, company *local.Company, progress io.Writer,
	) (*result.Run, error) {
		if company == nil {
			return nil, errors.New("is made by itself")
		}
		// One takes from the other, whoever comes first.
		select {
		case there <- struct{}{}:
		case <-there:
		}
		_, err := fmt.Fprintln(progress, "is there")
		return &result.Run{Fault: "of " + run.Key()}, err
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range made.Runs {
		got = append(got, fmt.Sprintf("%s-%d %s", run.Variant, run.Repetition, run.Fault))
	}
	const want = "before-1 of before-1, after-1 of after-1, after-2 of after-2, before-2 of before-2"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
	if !strings.HasPrefix(out.String(), "spec.volume does not apply here\nrun 1 of ") {
		t.Errorf("what does not apply is not said first in %q", out.String())
	}
	for _, line := range []string{"run 1 of after, 1 of 2 in all\n", "before: is there\n", "after: is there\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is missing in %q", line, out.String())
		}
	}
}

// announcing waits, as it says that a run begins, whether another one has begun to write.
type announcing struct {
	t     *testing.T
	begun chan struct{}
}

func (a *announcing) Write(line []byte) (int, error) {
	if strings.HasPrefix(string(line), "run 1 of after") {
		select {
		case <-a.begun:
			a.t.Error("a run writes while another one is announced")
		case <-time.After(200 * time.Millisecond):
		}
	}
	return len(line), nil
}

// Whoever takes the progress is not told two things at once.
func TestRunsAreAnnouncedBeforeTheyWrite(t *testing.T) {
	t.Parallel()
	out := &announcing{t: t, begun: make(chan struct{}, 1)}
	options := sideBySide(t, out)
	options.Benchmark.Spec.Repetitions = 1
	if err := options.recordAll(t.Context(), &result.Result{}, func(
		_ context.Context, run bench.PlannedRun, _ *local.Company, _ io.Writer,
	) (*result.Run, error) {
		if run.VariantName == "before" {
			out.begun <- struct{}{}
		}
		return &result.Run{}, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A run that cannot be made ends the one beside it.
func TestARunThatFailsEndsTheOtherOne(t *testing.T) {
	t.Parallel()
	options := sideBySide(t, io.Discard)
	failed := errors.New("no port is left")
	err := options.recordAll(t.Context(), &result.Result{}, func(
		ctx context.Context, run bench.PlannedRun, _ *local.Company, _ io.Writer,
	) (*result.Run, error) {
		if run.VariantName == "after" {
			return nil, failed
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "run 1 of after: ") {
		t.Errorf("the error is %v", err)
	}
}

// Whoever is the last of two that end at the same time has nothing left to remove.
func TestAFolderThatIsRemovedAlready(t *testing.T) {
	t.Parallel()
	for range 200 {
		folder := filepath.Join(t.TempDir(), "networks")
		if err := os.Mkdir(folder, folderMode); err != nil {
			t.Fatal(err)
		}
		var removing errgroup.Group
		for range 4 {
			removing.Go(func() error { return removeEmpty(folder) })
		}
		if err := removing.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
