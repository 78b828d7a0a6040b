// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plan is what of a plan is looked at, as terraform show -json prints it.
type (
	plan struct {
		Variables struct {
			DataDisk struct {
				Value volume `json:"value"`
			} `json:"data_disk"`
		} `json:"variables"`
		PlannedValues struct {
			Root module `json:"root_module"`
		} `json:"planned_values"`
		// Of an output that is not known as a whole, what is known.
		Outputs struct {
			Clusters struct {
				After map[string]struct {
					Domain string `json:"domain"`
				} `json:"after"`
			} `json:"clusters"`
			Cost struct {
				After struct {
					PricesOf  string             `json:"prices_of"`
					PerHour   float64            `json:"per_hour"`
					PerHourOf map[string]float64 `json:"per_hour_of"`
				} `json:"after"`
			} `json:"cost"`
			Quotas struct {
				After map[string]map[string]int `json:"after"`
			} `json:"quotas"`
			ProjectQuotas struct {
				After map[string]int `json:"after"`
			} `json:"project_quotas"`
		} `json:"output_changes"`
	}
	module struct {
		Resources []resource `json:"resources"`
		Children  []module   `json:"child_modules"`
	}
	resource struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Values json.RawMessage `json:"values"`
	}
	volume struct {
		SizeGiB         int `json:"size_gib"`
		IOPS            int `json:"iops"`
		ThroughputMiBps int `json:"throughput_mibps"`
	}
	pool struct {
		Name       string `json:"name"`
		Location   string `json:"location"`
		NodeCount  int    `json:"node_count"`
		NodeConfig []struct {
			MachineType   string   `json:"machine_type"`
			Tags          []string `json:"tags"`
			Taint         []taint  `json:"taint"`
			KubeletConfig []struct {
				CPUManagerPolicy     string   `json:"cpu_manager_policy"`
				AllowedUnsafeSysctls []string `json:"allowed_unsafe_sysctls"`
			} `json:"kubelet_config"`
			LinuxNodeConfig []struct {
				Sysctls map[string]string `json:"sysctls"`
			} `json:"linux_node_config"`
		} `json:"node_config"`
	}
	taint struct {
		Key    string `json:"key"`
		Value  string `json:"value"`
		Effect string `json:"effect"`
	}
	firewall struct {
		TargetTags []string `json:"target_tags"`
		Allow      []struct {
			Protocol string   `json:"protocol"`
			Ports    []string `json:"ports"`
		} `json:"allow"`
	}
	cluster struct {
		Location  string `json:"location"`
		DNSConfig []struct {
			Domain string `json:"cluster_dns_domain"`
		} `json:"dns_config"`
	}
)

// newPlan plans an example.
func newPlan(t *testing.T, file string) *plan {
	t.Helper()
	tf := newTerraform(t, newTree(t))
	saved := filepath.Join(tf.home, "plan")
	tf.mustRun(t, planOf(file, "-out="+saved)...)
	planned := &plan{}
	decode(t, tf.mustRun(t, "show", "-json", saved), planned)
	return planned
}

// resources are those of a type, of all modules.
func (p *plan) resources(kind string) []resource {
	var found []resource
	modules := []module{p.PlannedValues.Root}
	for len(modules) > 0 {
		for _, resource := range modules[0].Resources {
			if resource.Type == kind {
				found = append(found, resource)
			}
		}
		modules = append(modules[1:], modules[0].Children...)
	}
	return found
}

// validatorPools are the pools of validators' machines.
func (p *plan) validatorPools(t *testing.T) []pool {
	t.Helper()
	pools := slices.DeleteFunc(p.pools(t), func(one pool) bool { return !strings.HasPrefix(one.Name, "validators-") })
	if len(pools) == 0 {
		t.Fatal("the plan has no pool for validators")
	}
	return pools
}

// pools are all pools of machines.
func (p *plan) pools(t *testing.T) []pool {
	t.Helper()
	var pools []pool
	for _, resource := range p.resources("google_container_node_pool") {
		var one pool
		decode(t, resource.Values, &one)
		pools = append(pools, one)
	}
	return pools
}
