// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// defaultStuckAfterSeconds is what a network has that says nothing of it.
const defaultStuckAfterSeconds = 300

// Inapplicable lists the settings of a network that do nothing on this machine,
// and what holds instead.
func Inapplicable(network *v1alpha1.ShardNetwork) []string {
	spec := &network.Spec
	var lines []string
	unless := func(applicable bool, setting, instead string) {
		if !applicable {
			lines = append(lines, fmt.Sprintf("%s does not apply here: %s", setting, instead))
		}
	}
	unless(len(spec.Regions) <= 1 || len(spec.Links) > 0,
		"spec.regions", "all regions are this machine, and without spec.links nothing delays what they send each other")
	unless(!slices.ContainsFunc(spec.Regions, func(r v1alpha1.Region) bool { return r.Cluster != "" }),
		"spec.regions[].cluster", "all validators run on this machine")
	unless(spec.Node.Image == "", "spec.node.image", "validators are processes of the shardnode program")
	unless(spec.Node.ImagePullPolicy == "", "spec.node.imagePullPolicy", "validators are processes of the shardnode program")
	unless(spec.PodTemplate == nil, "spec.podTemplate", "validators are processes, not pods")
	unless(spec.Node.Resources == nil, "spec.node.resources", "validators share what this machine has")
	unless(len(spec.Node.Roles) == 0, "spec.node.roles", "validators share what this machine has")
	unless(spec.Placement.MachineType == "", "spec.placement.machineType", "all validators run on this machine")
	unless(len(spec.Placement.Regions) == 0, "spec.placement.regions", "all validators run on this machine")
	nodes := spec.Shards*spec.ProducersPerShard + spec.ChunkValidators + spec.RPCNodes + spec.ArchiveNodes
	unless(spec.Placement.Exclusivity == v1alpha1.Shared || nodes == 1,
		"spec.placement.exclusivity", "all validators run on this machine")
	unless(spec.TCP.Profile != v1alpha1.TCPProfileHighThroughput,
		"spec.tcp", "validators use the TCP settings of this machine")
	unless(spec.RPCService == nil, "spec.rpcService", "clients reach each validator by its own port")
	unless(spec.RPCRoute == nil, "spec.rpcRoute", "clients reach each validator by its own port")
	unless(spec.Volume == nil, "spec.volume", "data is kept in the state directory")
	unless(spec.Update.AtHeight == nil && spec.Update.MaxUnavailable == nil && spec.Update.OnTrouble == v1alpha1.OnTroublePause &&
		spec.Update.OnlyCopies == v1alpha1.OnlyCopiesKeep,
		"spec.update", "a changed manifest takes effect when all validators start, on the data that they had")
	unless(spec.Healing.Mode == v1alpha1.HealingRestart && spec.Healing.LostVolumes == v1alpha1.LostVolumesReplace &&
		spec.Healing.StuckAfterSeconds == defaultStuckAfterSeconds,
		"spec.healing", "validators that run are left alone, and those that end start again")
	unless(spec.Budget == nil, "spec.budget", "to run on this machine costs nothing that has a price")
	return lines
}
