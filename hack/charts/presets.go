// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

// presetsTable says what each preset of a chart needs and costs, in the order of the
// schema; empty for a chart that has none.
func presetsTable(chart string) (string, error) {
	names, err := presetNames(chart)
	if err != nil || len(names) == 0 {
		return "", err
	}
	prices, err := cost.ReadPrices()
	if err != nil {
		return "", err
	}
	table := &strings.Builder{}
	table.WriteString("| preset | validators | regions | machines | CPU | memory | disks | USD per hour |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|\n")
	leftOut := ""
	for _, name := range names {
		network, err := readPreset(chart, name)
		if err != nil {
			return "", fmt.Errorf("preset %s: %w", name, err)
		}
		plan, err := topology.New(network)
		if err != nil {
			return "", fmt.Errorf("preset %s: %w", name, err)
		}
		estimate := cost.New(network, plan, prices)
		leftOut = estimate.NotIncluded
		cpu, memory := requested(network, plan)
		fmt.Fprintf(table, "| `%s` | %d | %s | %s | %s | %s | %s | %s |\n", name, len(plan.Nodes), regions(network),
			machines(network, plan), cpu, memory, disks(network, plan), perHour(estimate))
	}
	fmt.Fprintf(table, "\nCPU and memory are what all validators request together. Prices are those of %s, without %s.\n",
		prices.Date, leftOut)
	return table.String(), nil
}

// presetNames are the presets that the schema of a chart's values knows.
func presetNames(chart string) ([]string, error) {
	content, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return nil, err
	}
	var schema struct {
		Properties struct {
			Preset struct {
				Enum []string `json:"enum"`
			} `json:"preset"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		return nil, fmt.Errorf("values.schema.json: %w", err)
	}
	return schema.Properties.Preset.Enum, nil
}

// readPreset is the network of a preset, with its defaults.
func readPreset(chart, name string) (*v1alpha1.ShardNetwork, error) {
	content, err := os.ReadFile(filepath.Join(chart, "presets", name+".yaml"))
	if err != nil {
		return nil, err
	}
	var spec map[string]any
	if err := yaml.Unmarshal(content, &spec); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindShardNetwork,
		"metadata": map[string]any{"name": name}, "spec": spec,
	})
	if err != nil {
		return nil, err
	}
	return manifest.Parse(whole)
}

// regions is how many regions the validators are in.
func regions(network *v1alpha1.ShardNetwork) string {
	if len(network.Spec.Regions) == 0 {
		return "any"
	}
	return strconv.Itoa(len(network.Spec.Regions))
}

// machines are what the validators run on.
func machines(network *v1alpha1.ShardNetwork, plan *topology.Plan) string {
	placement := &network.Spec.Placement
	kind := placement.MachineType
	switch {
	case placement.Exclusivity == v1alpha1.Shared:
		return strings.TrimSpace("any number " + kind)
	case kind == "":
		return fmt.Sprintf("%d of any type", len(plan.Nodes))
	default:
		return fmt.Sprintf("%d %s", len(plan.Nodes), kind)
	}
}

// requested is what all validators request together.
func requested(network *v1alpha1.ShardNetwork, plan *topology.Plan) (cpu, memory string) {
	var cpus, bytes resource.Quantity
	for _, validator := range plan.Nodes {
		resources, _ := validator.Role.Resources(&network.Spec.Node)
		if resources == nil || resources.Requests == nil {
			continue
		}
		if resources.Requests.CPU != nil {
			cpus.Add(*resources.Requests.CPU)
		}
		if resources.Requests.Memory != nil {
			bytes.Add(*resources.Requests.Memory)
		}
	}
	return unlessNone(cpus), unlessNone(bytes)
}

func unlessNone(quantity resource.Quantity) string {
	if quantity.IsZero() {
		return "none"
	}
	return quantity.String()
}

// disks are what the validators keep their state on.
func disks(network *v1alpha1.ShardNetwork, plan *topology.Plan) string {
	volume := network.Spec.Volume
	if volume == nil {
		return "none"
	}
	said := fmt.Sprintf("%d of %s", len(plan.Nodes), volume.Size.String())
	if volume.IOPS > 0 {
		said += fmt.Sprintf(", %d IOPS, %d MiB/s", volume.IOPS, volume.ThroughputMebibytesPerSecond)
	}
	return said
}

// perHour is what the network costs, or why that is not known.
func perHour(estimate *cost.Estimate) string {
	if estimate.USDPerHour != nil {
		return estimate.USDPerHour.String()
	}
	for _, part := range estimate.Parts {
		if part.USDPerHour == nil {
			return "not known: " + part.Basis
		}
	}
	return "not known"
}
