// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

func newPlanCommand() *cobra.Command {
	var path, format string
	command := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Print which validator serves which shard, in which region, and what that costs",
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
			plan, err := newPricedPlan(network)
			if err != nil {
				return err
			}
			return write(command.OutOrStdout(), plan)
		},
	}
	addManifestFlag(command, &path)
	addFormatFlag(command, &format, "table", "json", "yaml")
	return command
}

// pricedPlan is a plan and what it costs.
type pricedPlan struct {
	*topology.Plan

	Cost *cost.Estimate `json:"cost"`
}

// newPricedPlan plans a network and estimates its cost. A network that does not
// keep to its budget is refused, in the words of the operator.
func newPricedPlan(network *v1alpha1.ShardNetwork) (*pricedPlan, error) {
	plan, err := topology.New(network)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", network.Name, err)
	}
	prices, err := cost.ReadPrices()
	if err != nil {
		return nil, err
	}
	estimate := cost.New(network, plan, prices)
	if refusal := cost.Check(network.Spec.Budget, estimate); refusal != nil {
		return nil, manifest.Refuse(refusal.Field, refusal.Words)
	}
	return &pricedPlan{plan, estimate}, nil
}

var planFormats = map[string]func(io.Writer, *pricedPlan) error{
	"table": writePlanTable,
	"json":  writePlanJSON,
	"yaml":  writePlanYAML,
}

func writePlanTable(out io.Writer, plan *pricedPlan) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "VALIDATOR\tSHARD\tSLOT\tROLE\tREGION\tMACHINE")
	for _, validator := range plan.Nodes {
		shard, slot := seat(validator)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", validator.Name, shard, slot,
			validator.Role, validator.Region, validator.Machine)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if len(plan.Links) > 0 {
		if err := writeLinksTable(out, plan.Links); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return writeCostTable(out, plan.Cost)
}

func writeLinksTable(out io.Writer, links []topology.Link) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "LINK\tDELAY\tLOSS\tBANDWIDTH")
	for _, link := range links {
		fmt.Fprintf(table, "%s - %s\t%s\t%s\t%s\n", link.Between[0], link.Between[1],
			unlessZero(link.DelayMilliseconds, "%d ms"),
			unlessZero(link.LossBasisPoints, "%d/10000"),
			unlessZero(link.BandwidthMegabitsPerSecond, "%d Mbit/s"))
	}
	return table.Flush()
}

// unlessZero is a value in words, if there is one.
func unlessZero(value int, format string) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

func writeCostTable(out io.Writer, estimate *cost.Estimate) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COST\tUSD\tOF")
	for _, part := range estimate.Parts {
		fmt.Fprintf(table, "%s\t%s\t%s\n", part.Name, dollars(part.USDPerHour), part.Basis)
	}
	fmt.Fprintf(table, "Per hour\t%s\tprices of %s, without %s\n", dollars(estimate.USDPerHour), estimate.PricesDate, estimate.NotIncluded)
	if lifetime := estimate.Lifetime; lifetime > 0 {
		fmt.Fprintf(table, "Per run\t%s\t%s, as spec.lifetime says\n", dollars(estimate.USDPerRun), lifetime)
	}
	return table.Flush()
}

// seat is what the table says of a validator's shard and slot.
func seat(validator topology.Validator) (shard, slot string) {
	if validator.Seat == nil {
		return "-", "-"
	}
	return strconv.Itoa(validator.Shard), strconv.Itoa(validator.Slot)
}

func dollars(amount *cost.USD) string {
	if amount == nil {
		return "unknown"
	}
	return amount.String()
}

func writePlanJSON(out io.Writer, plan *pricedPlan) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(plan)
}

func writePlanYAML(out io.Writer, plan *pricedPlan) error {
	content, err := yaml.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	_, err = out.Write(content)
	return err
}
