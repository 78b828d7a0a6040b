// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/otlp"
	"github.com/shardyard/shardyard/internal/trace"
)

func newTraceCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "trace",
		Short: "Say what blocks waited for, from the spans of a network's nodes",
	}
	command.AddCommand(newCriticalPathCommand(), newTraceExportCommand())
	return command
}

const criticalPathLong = `Say what each block of a range of heights waited for, from the block before to this
one, by phase, span, shard, node and region.

The spans are those of a run on this machine, which may be going on:

  shardyard up -f FILE --trace-basis-points 10000
  shardyard trace critical-path --network NAME

of files that an OpenTelemetry collector wrote with its file exporter, as protobuf or
as JSON, or of the Jaeger or the Tempo that the nodes send them to:

  shardyard trace critical-path --network NAME --jaeger http://localhost:16686

What goes from one node or region to another counts for both.`

const traceExportLong = `Write the spans of a network's nodes for a viewer.

The format perfetto is for https://ui.perfetto.dev, which reads it in the browser
and sends it nowhere: lanes for every node, the critical path above them, and arrows
from what a span waited for on another node.`

// traceOptions say which spans are meant.
type traceOptions struct {
	files    []string
	network  string
	stateDir string
	from, to uint64
	last     int
	kept     storeOptions
}

func newCriticalPathCommand() *cobra.Command {
	var options traceOptions
	var rows int
	var format string
	command := &cobra.Command{
		Use:   "critical-path [FILE...]",
		Short: "Say what blocks waited for",
		Long:  criticalPathLong,
		RunE: func(command *cobra.Command, args []string) error {
			options.files = args
			return criticalPath(command, options, rows, format)
		},
	}
	options.addFlags(command)
	command.Flags().IntVar(&rows, "rows", 8, "rows of each table")
	command.Flags().StringVarP(&format, "output", "o", "text",
		"output format: text, or json, which has the path of every block as well")
	return command
}

func newTraceExportCommand() *cobra.Command {
	var options traceOptions
	var format string
	command := &cobra.Command{
		Use:   "export [FILE...]",
		Short: "Write spans for a viewer",
		Long:  traceExportLong,
		RunE: func(command *cobra.Command, args []string) error {
			options.files = args
			if format != "perfetto" {
				return fmt.Errorf("unknown format %q: want perfetto", format)
			}
			spans, err := options.read(command)
			if err != nil {
				return err
			}
			return trace.WritePerfetto(command.OutOrStdout(), spans)
		},
	}
	options.addFlags(command)
	command.Flags().StringVar(&format, "format", "perfetto", "the format: perfetto")
	return command
}

func (options *traceOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&options.network, "network", "", "the network: needed for a run on this machine, and where there are spans of several")
	addStateDirFlag(command, &options.stateDir)
	flags.Uint64Var(&options.from, "from", 0, "the first height")
	flags.Uint64Var(&options.to, "to", math.MaxUint64, "the last height (default the last one that there is)")
	flags.IntVar(&options.last, "last", 0, "take the last so many traced heights of the range (default all)")
	options.kept.addFlags(flags)
	completeNetworks(command, &options.stateDir)
}

func criticalPath(command *cobra.Command, options traceOptions, rows int, format string) error {
	if format != "text" && format != "json" {
		return fmt.Errorf("unknown output format %q: want text or json", format)
	}
	if rows < 1 {
		return fmt.Errorf("--rows must be at least 1, is %d", rows)
	}
	spans, err := options.read(command)
	if err != nil {
		return err
	}
	report := trace.NewReport(spans)
	if format == "json" {
		return report.WriteJSON(command.OutOrStdout())
	}
	return report.WriteText(command.OutOrStdout(), rows)
}

// read reads the spans that are meant.
func (options *traceOptions) read(command *cobra.Command) ([]trace.Span, error) {
	if options.from > options.to {
		return nil, fmt.Errorf("--from is %d, above --to, %d", options.from, options.to)
	}
	if options.last < 0 {
		return nil, fmt.Errorf("--last must not be negative, is %d", options.last)
	}
	spans, err := options.readAll(command)
	if err != nil {
		return nil, err
	}
	if spans, err = ofNetwork(spans, options.network); err != nil {
		return nil, err
	}
	spans, older := trace.NewestChain(spans)
	if older > 0 {
		_, err := fmt.Fprintf(command.ErrOrStderr(), "traces of an earlier chain of the same name are left out: %d\n", older)
		if err != nil {
			return nil, err
		}
	}
	spans = slices.DeleteFunc(spans, func(span trace.Span) bool {
		return span.Height < options.from || span.Height > options.to
	})
	return lastHeights(spans, options.last), nil
}

// check says whether the options are of one source of spans, which may be a store.
func (options *traceOptions) check(command *cobra.Command, isStore bool) error {
	hasFiles := len(options.files) > 0
	switch {
	case isStore && hasFiles:
		return errors.New("name either files, or a Jaeger or a Tempo")
	case !isStore && command.Flags().Changed("since"):
		return errors.New("--since is for --jaeger and --tempo")
	case options.stateDir != "" && (isStore || hasFiles):
		return errors.New("--state-dir is for a network of this machine, and not for files, --jaeger or --tempo")
	default:
		return nil
	}
}

func (options *traceOptions) readAll(command *cobra.Command) (spans []trace.Span, err error) {
	store, err := options.kept.store()
	if err != nil {
		return nil, err
	}
	if err := options.check(command, store != nil); err != nil {
		return nil, err
	}
	if store != nil {
		return options.readStore(command.Context(), store, command.ErrOrStderr())
	}
	if len(options.files) > 0 {
		for _, path := range options.files {
			read, err := otlp.ReadFile(path)
			if err != nil {
				return nil, err
			}
			spans = append(spans, read...)
		}
		return spans, nil
	}
	if options.network == "" {
		return nil, errors.New("name a FILE, a Jaeger, a Tempo, or with --network a network of this machine")
	}
	stateDir, err := stateDirOr(options.stateDir)
	if err != nil {
		return nil, err
	}
	spans, err = local.ReadSpans(stateDir, options.network)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no spans: shardyard up keeps them with --trace-basis-points",
			filepath.Join(stateDir, options.network))
	}
	return spans, err
}

// ofNetwork are the spans of one network: heights of different ones mean nothing
// to each other.
func ofNetwork(spans []trace.Span, network string) ([]trace.Span, error) {
	if network != "" {
		return slices.DeleteFunc(spans, func(span trace.Span) bool { return span.Network != network }), nil
	}
	var names []string
	for _, span := range spans {
		if !slices.Contains(names, span.Network) {
			names = append(names, span.Network)
		}
	}
	if len(names) > 1 {
		slices.Sort(names)
		return nil, fmt.Errorf("spans are of several networks, choose one with --network: %s", strings.Join(names, ", "))
	}
	return spans, nil
}

// lastHeights are the spans of the last heights that there are, by when they began; 0
// for all. The very last ones may not be whole yet, and are taken nevertheless: the
// report says so.
func lastHeights(spans []trace.Span, last int) []trace.Span {
	began := map[uint64]time.Time{}
	for _, span := range spans {
		if first, ok := began[span.Height]; !ok || span.Begin.Before(first) {
			began[span.Height] = span.Begin
		}
	}
	if last == 0 || len(began) <= last {
		return spans
	}
	heights := slices.SortedFunc(maps.Keys(began), func(a, b uint64) int {
		return cmp.Or(began[b].Compare(began[a]), cmp.Compare(b, a))
	})
	for _, height := range heights[last:] {
		delete(began, height)
	}
	return slices.DeleteFunc(spans, func(span trace.Span) bool { return began[span.Height].IsZero() })
}
