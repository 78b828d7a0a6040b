// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/test/smallnetwork"
)

func TestFindShardnode(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "shardnode")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := FindShardnode(program); err != nil || got != program {
		t.Errorf("named, it is %q (%v), want %q", got, err, program)
	}
	t.Setenv("PATH", dir)
	if got, err := FindShardnode(""); err != nil || got != program {
		t.Errorf("in the PATH, it is %q (%v), want %q", got, err, program)
	}
	t.Setenv("PATH", t.TempDir())
	for _, named := range []string{"", filepath.Join(dir, "missing")} {
		if got, err := FindShardnode(named); err == nil {
			t.Errorf("named %q, it is %q, want an error", named, got)
		}
	}
}

// Every setting that does nothing here is named, and no other.
func TestInapplicable(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	if lines := Inapplicable(network); len(lines) > 0 {
		t.Errorf("a network that says nothing of other machines has %q", lines)
	}

	network, err = manifest.Read("../../config/samples/near-1m-70-shards.yaml")
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Image = "example.com/shardnode:1"
	network.Spec.Node.ImagePullPolicy = "Always"
	network.Spec.Node.Resources = nil
	network.Spec.Node.Roles = []v1alpha1.NodeRoleSpec{{}}
	network.Spec.PodTemplate = &v1alpha1.PodTemplate{}
	network.Spec.Placement.Regions = []v1alpha1.RegionPlacement{{}}
	network.Spec.RPCService = &v1alpha1.RPCServiceSpec{}
	network.Spec.RPCRoute = &v1alpha1.RPCRouteSpec{}
	network.Spec.Budget = &v1alpha1.BudgetSpec{}
	network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	network.Spec.Healing.Mode = v1alpha1.HealingReport
	var settings []string
	for _, line := range Inapplicable(network) {
		setting, _, _ := strings.Cut(line, " does not apply here: ")
		settings = append(settings, setting)
	}
	want := []string{
		"spec.regions", "spec.regions[].cluster", "spec.node.image", "spec.node.imagePullPolicy", "spec.podTemplate", "spec.node.roles",
		"spec.placement.machineType", "spec.placement.regions", "spec.placement.exclusivity", "spec.tcp", "spec.rpcService", "spec.rpcRoute",
		"spec.volume", "spec.update", "spec.healing", "spec.budget",
	}
	if !slices.Equal(settings, want) {
		t.Errorf("the settings are %q, want %q", settings, want)
	}
}

// An update that is to begin at a height is none of this machine's either.
func TestUpdatesAtAHeightDoNotApply(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(smallnetwork.Manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Update.AtHeight = ptr.To[int64](1000)
	if lines := Inapplicable(network); len(lines) != 1 || !strings.HasPrefix(lines[0], "spec.update does not apply here: ") {
		t.Errorf("the network has %q, want a line of spec.update", lines)
	}
}

// Regions that have links are as far apart here as anywhere.
func TestLinksApply(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read("../../config/samples/three-regions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if lines := Inapplicable(network); len(lines) > 0 {
		t.Errorf("a network with links has %q", lines)
	}
	network.Spec.Links = nil
	if lines := Inapplicable(network); len(lines) != 1 || !strings.HasPrefix(lines[0], "spec.regions does not apply here: ") {
		t.Errorf("a network without links has %q, want a line of spec.regions", lines)
	}
}
