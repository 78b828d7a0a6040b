// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/report"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
)

const reportLong = `Read the results of benchmarks, each in a folder, or in a bucket that a URL names:
s3://BUCKET/PREFIX?region=REGION or gs://BUCKET/PREFIX.`

func newReportCommand() *cobra.Command {
	command := &cobra.Command{Use: "report", Short: "Read the results of benchmarks", Long: reportLong, Args: cobra.NoArgs}
	command.AddCommand(newReportShowCommand(), newReportCompareCommand(), newReportHistoryCommand(), newReportSiteCommand())
	return command
}

func newReportShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ARTIFACT",
		Short: "Print the figures and the verdict of a result",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			made, err := artifact.Read(command.Context(), args[0])
			if err != nil {
				return err
			}
			return report.WriteText(command.OutOrStdout(), made)
		},
	}
}

const reportCompareLong = `Compare a result with an earlier one, by the series that both hold: print their
figures beside each other, and for each figure an interval for its change.

How to compare is what the spec.baseline of the later result's benchmark says, or
else TPS, block time and CPU per transfer at 95% with a floor of 1%. Of results
with two variants, the second ones are compared. Runs that do not count are left out,
and a note says why each does not.

The exit code is 4 if a figure is worse.`

func newReportCompareCommand() *cobra.Command {
	var page string
	command := &cobra.Command{
		Use:   "compare BASELINE ARTIFACT",
		Short: "Compare a result with an earlier one",
		Long:  reportCompareLong,
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return compare(command, args, page)
		},
	}
	command.Flags().StringVar(&page, "html", "", "file to write a page to that shows all runs of both, overlaid")
	return command
}

// comparedFigures are what results are compared by that do not say it themselves.
var comparedFigures = []v1alpha1.BenchmarkFigure{
	v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureBlockTimeMilliseconds, v1alpha1.FigureCPUMicrosecondsPerTransfer,
}

func compare(command *cobra.Command, paths []string, page string) error {
	names := distinct(paths)
	var results []report.Named
	for i, path := range paths {
		made, err := artifact.Read(command.Context(), path)
		if err != nil {
			return err
		}
		results = append(results, report.Named{Name: names[i], Result: made})
	}
	before, after := results[0].Result, results[1].Result
	how := after.Benchmark.Spec.Baseline
	if how == nil {
		how = &v1alpha1.BenchmarkBaseline{Figures: comparedFigures, ConfidencePercent: 95, FloorPercent: ptr.To[int32](1)}
	}
	baseline, candidate := verdict.CandidateOf(before, names[0]), verdict.CandidateOf(after, names[1])
	if err := errors.Join(baseline.Check(), candidate.Check()); err != nil {
		return err
	}
	comparison := verdict.Compare(baseline, candidate, how, false, after.Seeds.Statistics)
	comparison.Notes = append(comparison.Notes, verdict.Differences(before, after)...)

	if err := report.WriteFigures(command.OutOrStdout(), results); err != nil {
		return err
	}
	report.WriteComparisonText(command.OutOrStdout(), comparison)
	if page != "" {
		var content bytes.Buffer
		if err := report.WriteComparison(&content, results, comparison); err != nil {
			return err
		}
		if err := os.WriteFile(page, content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	worse := func(change result.Change) bool { return change.Outcome == result.ChangeWorse }
	if slices.ContainsFunc(comparison.Changes, worse) {
		return exitError{exitRegressed}
	}
	return nil
}

// distinct are the names of artifacts: of their folders, as long as these tell
// them apart.
func distinct(paths []string) []string {
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		name := artifact.Name(path)
		if slices.Contains(names, name) {
			return paths
		}
		names = append(names, name)
	}
	return names
}

func newReportHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "history FOLDER",
		Short: "Print a line for each result below a folder, the oldest first",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := artifact.Find(command.Context(), args[0])
			if err != nil {
				return err
			}
			results := make([]report.Named, 0, len(found))
			for _, stored := range found {
				results = append(results, report.Named{Name: stored.Folder, Result: stored.Result})
			}
			return report.WriteHistory(command.OutOrStdout(), results)
		},
	}
}

func newReportSiteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "site FOLDER SITE",
		Short: "Write a static site of all results below a folder: a page of all, and the page, data and spec of each",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			pages, err := artifact.WriteSite(command.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "results shown by %s: %d\n", filepath.Join(args[1], artifact.SiteFile), pages)
			return err
		},
	}
}
