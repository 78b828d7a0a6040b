// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// presets are the networks that the examples have the machines of.
var presets = map[string]string{
	"4-shards-one-region":     "near-4-shards",
	"70-shards-three-regions": "near-1m-70-shards",
}

// What Terraform makes is what the operator looks for and what the preset asks
// for.
func TestExamplesAreOfTheirPresets(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob(filepath.Join(source, "examples", "*.tfvars"))
	if err != nil {
		t.Fatal(err)
	}
	if len(examples) != len(presets) {
		t.Errorf("there are %d examples for %d presets", len(examples), len(presets))
	}
	for _, file := range examples {
		name := strings.TrimSuffix(filepath.Base(file), ".tfvars")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset := readPreset(t, presets[name])
			planned := newPlan(t, "examples/"+name+".tfvars")
			t.Run("machines", func(t *testing.T) { checkMachines(t, planned, preset) })
			t.Run("placement", func(t *testing.T) { checkPlacement(t, planned, preset) })
			t.Run("sysctls", func(t *testing.T) { checkSysctls(t, planned, preset) })
			t.Run("volumes", func(t *testing.T) { checkVolumes(t, planned, preset) })
			t.Run("ports", func(t *testing.T) { checkPorts(t, planned) })
			t.Run("domains", func(t *testing.T) { checkDomains(t, planned) })
			t.Run("bill", func(t *testing.T) { checkBill(t, planned, preset) })
		})
	}
}

func readPreset(t *testing.T, name string) *v1alpha1.ShardNetworkSpec {
	t.Helper()
	content, err := os.ReadFile("../../charts/testnet/presets/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec := &v1alpha1.ShardNetworkSpec{}
	if err := yaml.UnmarshalStrict(content, spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func checkMachines(t *testing.T, planned *plan, preset *v1alpha1.ShardNetworkSpec) {
	t.Helper()
	want := map[string]int{}
	for _, region := range preset.Regions {
		want[region.Name] = int(region.Nodes)
	}
	got := map[string]int{}
	for _, pool := range planned.validatorPools(t) {
		got[pool.Location] += pool.NodeCount
	}
	if !maps.Equal(got, want) {
		t.Errorf("the machines are %v, want %v", got, want)
	}
}

func checkPlacement(t *testing.T, planned *plan, preset *v1alpha1.ShardNetworkSpec) {
	t.Helper()
	for _, pool := range planned.validatorPools(t) {
		node := pool.NodeConfig[0]
		if node.MachineType != preset.Placement.MachineType {
			t.Errorf("%s has machines of type %s, want %s", pool.Name, node.MachineType, preset.Placement.MachineType)
		}
		want := []taint{{Key: resources.TaintMachineType, Value: preset.Placement.MachineType, Effect: "NO_SCHEDULE"}}
		if !reflect.DeepEqual(node.Taint, want) {
			t.Errorf("%s has the taints %v, want %v", pool.Name, node.Taint, want)
		}
		if policy := node.KubeletConfig[0].CPUManagerPolicy; policy != "static" {
			t.Errorf("%s has the CPU manager policy %q", pool.Name, policy)
		}
	}
}

// A pod may set what its profile has, and what the machine sets as well is the
// same there.
func checkSysctls(t *testing.T, planned *plan, preset *v1alpha1.ShardNetworkSpec) {
	t.Helper()
	for _, pool := range planned.validatorPools(t) {
		node := pool.NodeConfig[0]
		for _, sysctl := range resources.Sysctls(preset.TCP.Profile) {
			if !slices.Contains(node.KubeletConfig[0].AllowedUnsafeSysctls, sysctl.Name) {
				t.Errorf("%s does not let pods set %s", pool.Name, sysctl.Name)
			}
			if value, set := node.LinuxNodeConfig[0].Sysctls[sysctl.Name]; set && value != sysctl.Value {
				t.Errorf("%s sets %s to %q, pods to %q", pool.Name, sysctl.Name, value, sysctl.Value)
			}
		}
	}
}

func checkVolumes(t *testing.T, planned *plan, preset *v1alpha1.ShardNetworkSpec) {
	t.Helper()
	want := volume{
		SizeGiB:         int(preset.Volume.Size.Value() >> 30),
		IOPS:            int(preset.Volume.IOPS),
		ThroughputMiBps: int(preset.Volume.ThroughputMebibytesPerSecond),
	}
	if got := planned.Variables.DataDisk.Value; got != want {
		t.Errorf("data_disk is %+v, the preset's volume %+v", got, want)
	}
}

func checkPorts(t *testing.T, planned *plan) {
	t.Helper()
	want := map[string]string{
		"p2p":   strconv.Itoa(topology.DefaultPorts.P2P),
		"http":  strconv.Itoa(topology.DefaultPorts.HTTP),
		"admin": strconv.Itoa(topology.DefaultPorts.Admin),
	}
	got := map[string]string{}
	for _, resource := range planned.resources("google_compute_firewall") {
		var rule firewall
		decode(t, resource.Values, &rule)
		got[resource.Name] = strings.Join(rule.Allow[0].Ports, ",")
		if len(rule.Allow) != 1 || rule.Allow[0].Protocol != "tcp" {
			t.Errorf("%s allows %v", resource.Name, rule.Allow)
		}
		// A network without a machine type is on any of them.
		for _, pool := range planned.pools(t) {
			if !reflect.DeepEqual(pool.NodeConfig[0].Tags, rule.TargetTags) {
				t.Errorf("%s is for %v, the machines of %s are %v", resource.Name, rule.TargetTags, pool.Name, pool.NodeConfig[0].Tags)
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the ports are %v, want %v", got, want)
	}
}

// The domain that others are told of a cluster is the one that it serves, and
// no other cluster has it.
func checkDomains(t *testing.T, planned *plan) {
	t.Helper()
	served := map[string]string{}
	for _, resource := range planned.resources("google_container_cluster") {
		var one cluster
		decode(t, resource.Values, &one)
		served[one.Location] = one.DNSConfig[0].Domain
	}
	told := map[string]string{}
	for region, cluster := range planned.Outputs.Clusters.After {
		told[region] = cluster.Domain
	}
	if !maps.Equal(served, told) {
		t.Errorf("the clusters serve %v, the output says %v", served, told)
	}
	if domains := slices.Compact(slices.Sorted(maps.Values(served))); len(domains) != len(served) {
		t.Errorf("clusters share a domain: %v", served)
	}
}

// Two programs come to one bill, but for the boot disks, of which a network
// knows nothing.
func checkBill(t *testing.T, planned *plan, preset *v1alpha1.ShardNetworkSpec) {
	t.Helper()
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Name: "run"}, Spec: *preset}
	layout, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	prices, err := cost.ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"boot_disks": amount(planned.Outputs.Cost.After.PerHourOf["boot_disks"])}
	for _, part := range cost.New(network, layout, prices).Parts {
		name := strings.ToLower(string(part.Name))
		if part.Name == v1alpha1.CostPartDisks {
			name = "data_disks"
		}
		if part.USDPerHour == nil {
			t.Fatalf("the cost of %s is not known: %s", part.Name, part.Basis)
		}
		want[name] = part.USDPerHour.String()
	}
	got := map[string]string{}
	for part, perHour := range planned.Outputs.Cost.After.PerHourOf {
		got[part] = amount(perHour)
	}
	if !maps.Equal(got, want) {
		t.Errorf("Terraform estimates %v, the operator %v", got, want)
	}
}

// amount is an amount of money in full cents.
func amount(money float64) string {
	return strconv.FormatFloat(money, 'f', 2, 64)
}

func decode(t *testing.T, document json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
}
