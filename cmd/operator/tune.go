// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
	"github.com/shardyard/shardyard/internal/tuning/agent"
)

// newTuneCommand is what the pods of a NodeTuning run. It needs no rights in
// the cluster: it is told everything by its flags, and asked for what it found.
func newTuneCommand() *cobra.Command {
	var options agent.Options
	var settings, address, logLevel string
	command := &cobra.Command{
		Use:   "tune-machine",
		Short: "Set the network stack of this machine and keep it so until told to stop",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			level, err := parseLevel(logLevel)
			if err != nil {
				return err
			}
			options.Log = slog.New(slog.NewJSONHandler(command.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			if options.Settings, err = parseSettings(settings); err != nil {
				return fmt.Errorf("--settings: %w", err)
			}
			options.SettingsHash = tuning.Hash(settings)
			tuner, err := agent.New(&options)
			if err != nil {
				return err
			}
			listener, err := (&net.ListenConfig{}).Listen(command.Context(), "tcp", net.JoinHostPort(address, strconv.Itoa(tuning.Port)))
			if err != nil {
				return fmt.Errorf("another agent may tune this machine: %w", err)
			}
			return tuner.Run(command.Context(), listener)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Tuning, "tuning", "", "name of the NodeTuning")
	flags.StringVar(&options.Machine, "machine", "", "name of this machine's Node")
	flags.StringVar(&settings, "settings", "{}", "settings of the NodeTuning, as JSON; none only puts back what it changed")
	flags.StringVar(&options.Sysctls, "sysctls", "/proc/sys/net", "folder of the machine's kernel parameters of the network")
	flags.StringVar(&options.StateFolder, "state", "/run/shardyard", "folder for old values, which outlives this program but not the kernel")
	flags.StringVar(&address, "address", "127.0.0.1", fmt.Sprintf("address that shows what was found, at port %d", tuning.Port))
	flags.StringVar(&logLevel, "log-level", "info", "least severity that is logged: error, warn, info or debug")
	for _, name := range []string{"tuning", "machine"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

// parseSettings takes no setting that this version does not know.
func parseSettings(encoded string) (*v1alpha1.NodeTuningSettings, error) {
	decoder := json.NewDecoder(strings.NewReader(encoded))
	decoder.DisallowUnknownFields()
	settings := &v1alpha1.NodeTuningSettings{}
	if err := decoder.Decode(settings); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the settings")
	}
	return settings, nil
}
