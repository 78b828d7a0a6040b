// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/version"
)

const artifactMode os.FileMode = 0o755

// newJudgeCommand is what makes the result of a benchmark, once all of its runs are
// recorded. Whoever does it again makes the same.
func newJudgeCommand() *cobra.Command {
	var options benchmarkPod
	var folder, network, image string
	var compared baseline
	command := &cobra.Command{
		Use:   "judge-runs",
		Short: "Make the result of a benchmark from the records of its runs",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			limitMemory(newLog(command, slog.LevelInfo))
			benchmark, err := options.read()
			if err != nil {
				return err
			}
			made, err := judge(command.Context(), benchmark, options.records, network, compared)
			if err != nil {
				return err
			}
			made.Shardyard.Image = image
			// One that was ended may have left a part of it, and there is no room for two.
			if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, artifactMode)); err != nil {
				return err
			}
			if err := artifact.Write(folder, made); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
			message, err := summary.Encode(summary.OfResult(made))
			if err != nil {
				return err
			}
			return options.write(message)
		},
	}
	options.addFlags(command)
	flags := command.Flags()
	flags.StringVar(&folder, "artifact", "", "folder to write the result to")
	flags.StringVar(&network, "network", "", "file that holds the ShardNetwork, as JSON, of a benchmark that names one")
	flags.StringVar(&image, "image", "", "image that this program is of, for the result")
	flags.StringVar(&compared.folder, "baseline", "", "folder of an earlier result, to compare with")
	flags.StringVar(&compared.name, "baseline-name", "", "what that is called")
	if err := command.MarkFlagRequired("artifact"); err != nil {
		panic(err)
	}
	return command
}

// baseline is an earlier result; the zero value is none.
type baseline struct {
	folder, name string
}

// read reads the result; nil for none.
func (b *baseline) read(ctx context.Context) (*result.Result, error) {
	if b.folder == "" {
		return nil, nil
	}
	earlier, err := artifact.Read(ctx, b.folder)
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w", b.name, err)
	}
	return earlier, nil
}

// judge makes the result of a benchmark. The network is a file, for a benchmark that
// names one.
func judge(
	ctx context.Context, benchmark *v1alpha1.Benchmark, records, network string, compared baseline,
) (*result.Result, error) {
	earlier, err := compared.read(ctx)
	if err != nil {
		return nil, err
	}
	runs := bench.Runs(&benchmark.Spec)
	measured, err := networkOf(benchmark, runs[0], network)
	if err != nil {
		return nil, err
	}
	made := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Benchmark:     *benchmark,
		Command:       os.Args,
		Repeat:        []string{"kubectl", "create", "-f", artifact.BenchmarkFile},
		Commit:        version.Get().Commit,
		Shardyard:     result.Program{Version: version.Get().Version},
		Seeds:         verdict.Seeds(measured.Spec.Genesis.Seed),
	}
	// Which very benchmark it was says nothing to the one that repeats it, and neither does
	// where its result went.
	made.Benchmark.UID, made.Benchmark.Spec.Upload = "", nil
	for i := range max(1, len(benchmark.Spec.Variants)) {
		variant := result.Variant{Network: *measured.Spec.DeepCopy()}
		if benchmark.Spec.Network.Name == "" {
			variant.Network = bench.NetworkSpec(&benchmark.Spec, i)
		}
		variant.Network.Load = benchmark.Spec.Load.DeepCopy()
		if len(benchmark.Spec.Variants) > 0 {
			variant.Name = benchmark.Spec.Variants[i].Name
		}
		made.Variants = append(made.Variants, variant)
	}
	images := map[string]recording.NodeImage{}
	for _, run := range runs {
		recorded, image, err := recording.Read(records, benchmark.UID, run)
		if err != nil {
			return nil, err
		}
		// What is called the same is the same.
		named := made.Variants[run.Variant].Network.Node.Image
		if before, ok := images[named]; ok && image != before {
			return nil, fmt.Errorf("the nodes of %s were made of %s, and those before of %s", run, image, before)
		}
		images[named] = image
		made.Runs = append(made.Runs, *recorded)
		program := &made.Variants[run.Variant].Shardnode
		program.Image, program.ImageID = image.Name, image.ID
	}
	made.Environment = environment(made.Runs)
	if benchmark.Spec.Network.Name != "" {
		made.Environment.Network = &result.Network{
			Name: measured.Name, CreatedAt: measured.CreationTimestamp.UTC(), Height: made.Runs[0].BeganHeight,
		}
	}
	made.StartedAt = made.Runs[0].StartedAt
	made.EndedAt = time.UnixMilli(made.Runs[len(made.Runs)-1].Window.EndMs).UTC()
	verdict.Conclude(made, earlier, compared.name)
	return made, nil
}
