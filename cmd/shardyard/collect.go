// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/local/running"
	"github.com/shardyard/shardyard/internal/support"
	"github.com/shardyard/shardyard/internal/version"
)

const collectLong = `Pack what somebody needs to see who is asked for help with a network: its manifest,
what was made of it, logs, the status and the metrics of its nodes, and of a cluster
also events, faults and benchmarks. Keys, tokens and Secrets are not in it.

What could not be had is told, and is in the file ` + support.MissingFile + ` of the bundle.`

// collectTimeout bounds how long nodes that do not answer can keep a bundle.
const collectTimeout = 5 * time.Minute

func newCollectCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "collect",
		Short: "Pack what is known of a network, without its secrets, for somebody who helps",
		Long:  collectLong,
	}
	command.AddCommand(newCollectLocalCommand(), newCollectClusterCommand())
	return command
}

func newCollectLocalCommand() *cobra.Command {
	var network, stateDir, path string
	command := &cobra.Command{
		Use:   "local",
		Short: "Pack what is known of a network of this machine",
		Long:  collectLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			stateDir, err := stateDirOr(stateDir)
			if err != nil {
				return err
			}
			if network == "" {
				running, err := running.Find(stateDir, "")
				if err != nil {
					return fmt.Errorf("%w: name a network with --network", err)
				}
				network = running.Name
			}
			return collect(command, network, path, func(ctx context.Context, bundle *support.Bundle) error {
				return running.Collect(ctx, stateDir, network, bundle)
			})
		},
	}
	addNetworkFlags(command, &network, &stateDir)
	addBundleFlag(command, &path)
	return command
}

func addBundleFlag(command *cobra.Command, path *string) {
	command.Flags().StringVarP(path, "output", "o", "", "file to write, which must not be there (default NETWORK-support-TIME.tar.gz)")
}

// collect writes a bundle of a network, and tells what is not in it.
func collect(command *cobra.Command, network, path string, fill func(context.Context, *support.Bundle) error) (err error) {
	ctx, cancel := context.WithTimeout(command.Context(), collectTimeout)
	defer cancel()
	now := time.Now().UTC()
	name := network + "-support-" + now.Format("20060102T150405Z")
	if path == "" {
		path = name + ".tar.gz"
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	missing, err := writeBundle(ctx, file, name, now, fill)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if command.Context().Err() != nil {
		// What is missing is so because nobody waited for it.
		return errors.New("interrupted before all was collected")
	}
	if len(missing) > 0 {
		fmt.Fprintf(command.ErrOrStderr(), "not in the bundle:\n  %s", strings.Join(missing, "  "))
	}
	_, err = fmt.Fprintf(command.OutOrStdout(), "the bundle is %s\n", path)
	return err
}

func writeBundle(
	ctx context.Context, out io.Writer, name string, now time.Time, fill func(context.Context, *support.Bundle) error,
) (missing []string, err error) {
	bundle := support.NewBundle(out, name, now)
	if err := bundle.Add("version.txt", []byte(version.Get().String()+"\n")); err != nil {
		return nil, err
	}
	if err := fill(ctx, bundle); err != nil {
		return nil, err
	}
	return bundle.Missing(), bundle.Close()
}
