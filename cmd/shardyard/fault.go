// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/manifest"
)

// The exit codes of a fault that was measured. What could not be has the exit code
// of every error, 1; 2 is what a crash of this program has.
const (
	exitWithoutEffect = 3
	exitNotRecovered  = 4
)

const faultRunLong = `Have a fault happen to a network that runs on this machine, and measure what comes
of it: whether it reached the validators, whether the chain felt it, as its finalised
blocks tell, and whether everything was as before when it was over. The network is one
that shardyard up runs.

The fault ends after its duration, with Ctrl-C, and by itself should this command be
killed.

The exit code is 0 for a fault that had an effect and from which the network recovered,
3 for one without effect or of which that cannot be told, and 4 for one that had an
effect and from which the network did not recover, or of which that cannot be told; 1
says that it could not be measured.`

func newFaultCommand() *cobra.Command {
	command := &cobra.Command{Use: "fault", Short: "Have faults happen to networks, and measure what comes of them", Args: cobra.NoArgs}
	command.AddCommand(newFaultRunCommand())
	return command
}

func newFaultRunCommand() *cobra.Command {
	var path, stateDir, format string
	command := &cobra.Command{
		Use:   "run -f FILE",
		Short: "Have a fault happen to a network of this machine, and measure what comes of it",
		Long:  faultRunLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runFault(command, path, stateDir, format)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&path, "filename", "f", "", "file that holds one Fault, in YAML or JSON")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err)
	}
	flags.StringVarP(&format, "output", "o", "text",
		"output format: text, or json for progress on standard error and the Fault with its status, a line, on standard output")
	addStateDirFlag(command, &stateDir)
	return command
}

func runFault(command *cobra.Command, path, stateDir, format string) error {
	write, ok := faultFormats[format]
	if !ok {
		return fmt.Errorf("unknown output format %q: want text or json", format)
	}
	fault, err := manifest.ReadFault(path)
	if err != nil {
		return err
	}
	if stateDir, err = stateDirOr(stateDir); err != nil {
		return err
	}
	progress := command.OutOrStdout()
	if format == "json" {
		progress = command.ErrOrStderr()
	}
	ctx, stop := untilHangup(command.Context())
	defer stop()
	if err := local.RunFault(ctx, stateDir, fault, progress); err != nil {
		return err
	}
	if err := write(command.OutOrStdout(), fault); err != nil {
		return err
	}
	return exitOfFault(&fault.Status)
}

// exitOfFault is the error that has the exit code of what came of a fault.
func exitOfFault(status *v1alpha1.FaultStatus) error {
	switch {
	case !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionEffective):
		return exitError{exitWithoutEffect}
	case !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered):
		return exitError{exitNotRecovered}
	default:
		return nil
	}
}

var faultFormats = map[string]func(io.Writer, *v1alpha1.Fault) error{
	"text": writeFault,
	"json": func(out io.Writer, fault *v1alpha1.Fault) error { return json.NewEncoder(out).Encode(fault) },
}

// writeFault writes what came of a fault: a table of what was measured, what was
// seen of its validators, and the conditions.
func writeFault(out io.Writer, fault *v1alpha1.Fault) error {
	status := &fault.Status
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, value func(*v1alpha1.FaultWindow) string) {
		fmt.Fprint(table, name)
		for i := range status.Windows {
			fmt.Fprint(table, "\t"+value(&status.Windows[i]))
		}
		fmt.Fprintln(table)
	}
	fmt.Fprintln(table)
	row("", func(w *v1alpha1.FaultWindow) string { return string(w.Name) })
	row("DurationMilliseconds", func(w *v1alpha1.FaultWindow) string { return strconv.FormatInt(w.DurationMilliseconds, 10) })
	row("Blocks", func(w *v1alpha1.FaultWindow) string { return strconv.Itoa(int(w.Blocks)) })
	row("BlockTimeMilliseconds", func(w *v1alpha1.FaultWindow) string {
		if w.BlockTimeMilliseconds == nil {
			return "-"
		}
		return strconv.FormatInt(*w.BlockTimeMilliseconds, 10)
	})
	row("LongestWaitMilliseconds", func(w *v1alpha1.FaultWindow) string { return strconv.FormatInt(w.LongestWaitMilliseconds, 10) })
	for _, measure := range []v1alpha1.FaultMeasure{
		v1alpha1.FaultMissedTurns, v1alpha1.FaultMissedChunks, v1alpha1.FaultPartlyEndorsedChunks, v1alpha1.FaultSlowBlocks,
	} {
		row(string(measure), func(w *v1alpha1.FaultWindow) string { return shareOf(w, measure) })
	}
	fmt.Fprintln(table)
	for _, validator := range status.Validators {
		fmt.Fprintf(table, "%s\t%s\tanswered %d of %d\n", validator.Name, validator.Reached, validator.Answered, validator.Asked)
	}
	fmt.Fprintln(table)
	for _, condition := range status.Conditions {
		fmt.Fprintf(table, "%s: %s (%s): %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
	}
	return table.Flush()
}

func shareOf(window *v1alpha1.FaultWindow, measure v1alpha1.FaultMeasure) string {
	for _, share := range window.Shares {
		if share.Measure == measure {
			return fmt.Sprintf("%d of %d", share.Count, share.Of)
		}
	}
	return "-"
}
