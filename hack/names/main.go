// SPDX-License-Identifier: Apache-2.0

// Command names prints what Terraform must name as the operator does: the file
// terraform/modules/names.json, which make generate writes.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// names are in the order in which the file holds them.
type names struct {
	// Ports are those of validators, for firewall rules.
	Ports topology.Ports `json:"ports"`
	// Taints keep other pods off machines.
	Taints taints `json:"taints"`
	// PodSysctls are the unsafe sysctls that validators' pods set, which the
	// kubelet of their machines must allow.
	PodSysctls []string `json:"podSysctls"`
}

type taints struct {
	// MachineType has the type of a machine as its value.
	MachineType string `json:"machineType"`
}

func main() {
	shared := names{
		Ports:  topology.DefaultPorts,
		Taints: taints{MachineType: resources.TaintMachineType},
	}
	for _, sysctl := range resources.Sysctls(v1alpha1.TCPProfileHighThroughput) {
		shared.PodSysctls = append(shared.PodSysctls, sysctl.Name)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(shared); err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
}
