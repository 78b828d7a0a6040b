// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/page"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/manifest"
)

// minDuration is the shortest run that there is something to measure in.
const minDuration = time.Second

const (
	// minScrapeInterval is as often as nodes have something new to tell.
	minScrapeInterval = 200 * time.Millisecond
	// maxScrapeInterval is as seldom as dashboards can make rates of.
	maxScrapeInterval = time.Minute
)

const upLong = `Run a network on this machine: every validator is a process of its own, on free
ports of the loopback interface.

The network runs until Ctrl-C, for the time of --for, or to the end of its
lifetime, and then leaves no process. Its state stays, in a folder of its name
below the state directory: run again, the chain goes on where it stopped. What
genesis fixes cannot change then; --fresh starts over.

The run begins with the first block that is finalised once all validators are
ready; --for counts from there. Transfers and missed chunks are counted from there on. TPS, block time and
CPU time are measured between two finalised blocks: from the time that the load
has reached its last step, if the run then goes on for at least ten seconds, and
otherwise over the whole run.

The page, at the address that is printed at the start, shows all of this live in a
browser. It asks this machine alone: the nodes are scraped, and their metrics kept
for some hours, by this program, which answers as a Prometheus does.

The exit code is 1 if the supply is not conserved or validators have different
blocks or state roots.`

func newUpCommand() *cobra.Command {
	var options local.Options
	var format string
	command := &cobra.Command{
		Use:   "up -f FILE",
		Short: "Run a network on this machine",
		Long:  upLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runUp(command, options, format)
		},
	}
	addManifestFlag(command, &options.Manifest)
	flags := command.Flags()
	flags.DurationVar(&options.Duration, "for", 0,
		"how long to run, such as 60s, counted from the block that the run begins with (default until Ctrl-C)")
	flags.StringVarP(&format, "output", "o", "text",
		"output format: text, or json for progress on standard error and a summary of one line on standard output")
	addStateDirFlag(command, &options.StateDir)
	flags.BoolVar(&options.Fresh, "fresh", false, "remove the network's keys, chain and logs first")
	flags.StringVar(&options.Shardnode, "shardnode", "", "the node program (default the one beside this program, or else of the PATH)")
	flags.StringVar(&options.Page.Address, "page", page.Auto,
		"where to serve the page: HOST:PORT, auto for a port of the loopback interface, or off for no page and no metrics")
	flags.DurationVar(&options.Page.ScrapeInterval, "scrape-interval", time.Second, "how often the nodes are asked for their metrics")
	flags.Int32Var(&options.TraceBasisPoints, "trace-basis-points", 0,
		"how many of 10,000 heights to trace, 10000 for all, for shardyard trace (default what the manifest says, or none)")
	flags.DurationVar(&options.ReadyTimeout, "ready-timeout", 2*time.Minute, "how long the validators may take to become ready")
	return command
}

func runUp(command *cobra.Command, options local.Options, format string) error {
	write, ok := summaryFormats[format]
	if !ok {
		return fmt.Errorf("unknown output format %q: want text or json", format)
	}
	if options.Page.Address == page.Off && command.Flags().Changed("scrape-interval") {
		return errors.New("--scrape-interval is of the page, and --page is off")
	}
	if options.TraceBasisPoints == 0 && command.Flags().Changed("trace-basis-points") {
		return errors.New("--trace-basis-points must be from 1 to 10000, is 0: without it, heights are traced as the manifest says")
	}
	if err := completeUp(&options); err != nil {
		return err
	}
	options.Progress = command.OutOrStdout()
	if format == "json" {
		options.Progress = command.ErrOrStderr()
	}

	ctx, stop := untilHangup(command.Context())
	defer stop()

	summary, err := local.Up(ctx, options)
	if summary != nil {
		err = errors.Join(err, write(summary, command.OutOrStdout()))
	}
	return explainResume(command.ErrOrStderr(), err)
}

var summaryFormats = map[string]func(*local.Summary, io.Writer) error{
	"text": (*local.Summary).WriteText,
	"json": (*local.Summary).WriteJSON,
}

// completeUp checks the options and fills in those that have a default.
func completeUp(options *local.Options) (err error) {
	if options.Duration != 0 && options.Duration < minDuration {
		return fmt.Errorf("--for must be at least %s, is %s", minDuration, options.Duration)
	}
	if options.ReadyTimeout <= 0 {
		return fmt.Errorf("--ready-timeout must be positive, is %s", options.ReadyTimeout)
	}
	if options.TraceBasisPoints < 0 || options.TraceBasisPoints > 10_000 {
		return fmt.Errorf("--trace-basis-points must be from 1 to 10000, is %d", options.TraceBasisPoints)
	}
	if err := checkPage(options.Page); err != nil {
		return err
	}
	if options.Shardnode, err = local.FindShardnode(options.Shardnode); err != nil {
		return err
	}
	if options.StateDir == "" {
		options.StateDir, err = statedir.Default()
		return err
	}
	options.StateDir, err = filepath.Abs(options.StateDir)
	return err
}

func checkPage(wanted page.Options) error {
	if interval := wanted.ScrapeInterval; interval < minScrapeInterval || interval > maxScrapeInterval {
		return fmt.Errorf("--scrape-interval must be from %s to %s, is %s", minScrapeInterval, maxScrapeInterval, interval)
	}
	if wanted.Address == page.Auto || wanted.Address == page.Off {
		return nil
	}
	if _, _, err := net.SplitHostPort(wanted.Address); err != nil {
		return fmt.Errorf("--page must be %s, %s or HOST:PORT, is %q", page.Auto, page.Off, wanted.Address)
	}
	return nil
}

// explainResume says what can be done when a network that is there cannot go on
// with a manifest. The lines of the errors themselves are about the manifest.
func explainResume(stderr io.Writer, err error) error {
	resume, ok := errors.AsType[*statedir.ResumeError](err)
	if !ok {
		return err
	}
	if _, invalid := errors.AsType[*manifest.InvalidError](err); invalid {
		_, _ = fmt.Fprintf(stderr, "the network of %s cannot become what the manifest says; --fresh starts over\n", resume.Dir)
		return err
	}
	return fmt.Errorf("%w; --fresh starts over", err)
}
