// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/tuning"
	"github.com/shardyard/shardyard/test/networks"
)

// onTunedMachines is a network that requires a NodeTuning, which its machines
// have.
func onTunedMachines(t *testing.T) (*observed.Network, *policy.Machines) {
	t.Helper()
	observation := networks.Healthy(t, 2, 2)
	observation.Network.Spec.Placement.NodeTuning = "high-throughput"
	machines := &policy.Machines{Tuning: nodeTuning(), Tuned: map[string]bool{}}
	for i := range observation.Nodes {
		machines.Tuned[observation.Nodes[i].Pod.Spec.NodeName] = true
	}
	return observation, machines
}

// nodeTuning is a NodeTuning of four machines, the second of which says something of
// some settings.
func nodeTuning(said ...tuning.SettingReport) *v1alpha1.NodeTuning {
	found := &v1alpha1.NodeTuning{ObjectMeta: metav1.ObjectMeta{Name: "high-throughput", Generation: 3}}
	observation := &tuningpolicy.Observation{Tuning: found, Wanted: 4}
	for i := range observation.Wanted {
		observation.Agents = append(observation.Agents, tuningpolicy.Agent{Machine: fmt.Sprintf("machine-%d", i), Recent: true})
	}
	if len(said) > 0 {
		observation.Agents[1].Report = &tuning.Report{Settings: said}
	}
	ready := tuningpolicy.Ready(observation)
	ready.ObservedGeneration = found.Generation
	found.Status.Conditions = []metav1.Condition{ready}
	return found
}

func ofMachines(t *testing.T, reason string, change func(*observed.Network, *policy.Machines)) trouble {
	t.Helper()
	observation, machines := onTunedMachines(t)
	change(observation, machines)
	return trouble{reason, policy.MachinesTuned(observation, machines)}
}

func troublesOfMachines(t *testing.T) []trouble {
	t.Helper()
	return []trouble{
		{v1alpha1.ReasonObjectsPending, policy.ObjectsPending(policy.ForTuning("high-throughput"))},
		ofMachines(t, v1alpha1.ReasonTuningMissing, func(_ *observed.Network, machines *policy.Machines) {
			machines.Tuning = nil
		}),
		ofMachines(t, v1alpha1.ReasonTuningMissing, func(_ *observed.Network, machines *policy.Machines) {
			machines.Tuning.DeletionTimestamp = &metav1.Time{Time: networks.Now}
		}),
		ofMachines(t, v1alpha1.ReasonTuningNotReady, func(observation *observed.Network, machines *policy.Machines) {
			networks.NoPod(&observation.Nodes[0])
			machines.Tuning.Status.Conditions = nil
		}),
		ofMachines(t, v1alpha1.ReasonTuningNotReady, func(observation *observed.Network, machines *policy.Machines) {
			networks.NoPod(&observation.Nodes[0])
			machines.Tuning = nodeTuning(tuning.SettingReport{
				Name: "rmemMaxBytes", State: v1alpha1.SettingUnavailable, Message: "set net.core.rmem_max: permission denied",
			})
		}),
		ofMachines(t, v1alpha1.ReasonMachineNotTuned, func(_ *observed.Network, machines *policy.Machines) {
			delete(machines.Tuned, "machine-2")
		}),
	}
}

func TestMachinesTuned(t *testing.T) {
	t.Parallel()
	observation, machines := onTunedMachines(t)
	networks.CheckCondition(t, policy.MachinesTuned(observation, machines), metav1.ConditionTrue, v1alpha1.ReasonTuned,
		"the machines of all 4 nodes in")

	// A tuning that is ready is enough for a network that begins.
	for i := range observation.Nodes {
		networks.NoPod(&observation.Nodes[i])
	}
	networks.CheckCondition(t, policy.MachinesTuned(observation, machines), metav1.ConditionTrue, v1alpha1.ReasonTuned,
		"all machines of the NodeTuning")
	// Ready as of an earlier spec is not.
	machines.Tuning.Generation++
	networks.CheckCondition(t, policy.MachinesTuned(observation, machines), metav1.ConditionFalse, v1alpha1.ReasonTuningNotReady,
		"nothing is known")

	// Other clusters' machines are not this cluster's.
	for i := range observation.Plan.Nodes {
		observation.Plan.Nodes[i].Cluster, observation.Nodes[i].Validator.Cluster = "west", "west"
	}
	networks.CheckCondition(t, policy.MachinesTuned(observation, &policy.Machines{}), metav1.ConditionTrue, v1alpha1.ReasonNothingToTune,
		"no validator")

	observation.Network.Spec.Placement.NodeTuning = ""
	networks.CheckCondition(t, policy.MachinesTuned(observation, &policy.Machines{}), metav1.ConditionTrue, v1alpha1.ReasonNothingToTune, "")
}

// Only a machine that read back the present settings is tuned.
func TestTunedMachines(t *testing.T) {
	t.Parallel()
	nodeTuning := &v1alpha1.NodeTuning{Status: v1alpha1.NodeTuningStatus{Machines: []v1alpha1.TunedMachine{
		{Name: "tuned", SettingsHash: "a"}, {Name: "of earlier settings", SettingsHash: "b"}, {Name: "not yet"},
	}}}
	if got := policy.TunedMachines(nodeTuning, "a"); fmt.Sprint(got) != "map[tuned:true]" {
		t.Errorf("the tuned machines are %v", got)
	}
}
