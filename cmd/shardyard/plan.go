// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

func newPlanCommand() *cobra.Command {
	var path, format string
	command := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Print which validator serves which shard, in which region",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			write, ok := planFormats[format]
			if !ok {
				return fmt.Errorf("unknown output format %q: want table, json or yaml", format)
			}
			network, err := manifest.Read(path)
			if err != nil {
				return err
			}
			plan, err := topology.New(network)
			if err != nil {
				return fmt.Errorf("plan %s: %w", network.Name, err)
			}
			return write(command.OutOrStdout(), plan)
		},
	}
	addManifestFlag(command, &path)
	command.Flags().StringVarP(&format, "output", "o", "table", "output format: table, json or yaml")
	return command
}

var planFormats = map[string]func(io.Writer, *topology.Plan) error{
	"table": writePlanTable,
	"json":  writePlanJSON,
	"yaml":  writePlanYAML,
}

func writePlanTable(out io.Writer, plan *topology.Plan) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "VALIDATOR\tSHARD\tSLOT\tROLE\tREGION\tMACHINE")
	for _, validator := range plan.Validators {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\n", validator.Name, validator.Shard, validator.Slot,
			validator.Role, validator.Region, validator.Machine)
	}
	return table.Flush()
}

func writePlanJSON(out io.Writer, plan *topology.Plan) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(plan)
}

func writePlanYAML(out io.Writer, plan *topology.Plan) error {
	content, err := yaml.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	_, err = out.Write(content)
	return err
}
