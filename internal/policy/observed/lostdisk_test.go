// SPDX-License-Identifier: Apache-2.0

package observed_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

func TestMachinesOf(t *testing.T) {
	t.Parallel()
	host := func(names ...string) corev1.NodeSelectorRequirement {
		return networks.Labelled(corev1.LabelHostname, names...)
	}
	zone := networks.Labelled(corev1.LabelTopologyZone, "europe-west4-a")
	field := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{networks.Labelled("metadata.name", "machine-1")}}
	not := host("machine-1")
	not.Operator = corev1.NodeSelectorOpNotIn
	others := networks.VolumeOn(networks.WithLabels(host("machine-0")))
	others.Spec.ClaimRef.UID = "another"
	anywhere := networks.VolumeOn()
	anywhere.Spec.NodeAffinity = nil
	for name, test := range map[string]struct {
		volume *corev1.PersistentVolume
		want   []string
	}{
		"a machine":                    {networks.VolumeOn(networks.WithLabels(host("machine-0"))), []string{"machine-0"}},
		"a machine by its name":        {networks.VolumeOn(field), []string{"machine-1"}},
		"one of some":                  {networks.VolumeOn(networks.WithLabels(host("b", "a")), field), []string{"a", "b", "machine-1"}},
		"a machine in a zone":          {networks.VolumeOn(networks.WithLabels(zone, host("machine-0"))), []string{"machine-0"}},
		"a zone":                       {networks.VolumeOn(networks.WithLabels(zone)), nil},
		"a machine, or a zone":         {networks.VolumeOn(networks.WithLabels(host("machine-0")), networks.WithLabels(zone)), nil},
		"all but one machine":          {networks.VolumeOn(networks.WithLabels(not)), nil},
		"anywhere":                     {anywhere, nil},
		"a machine, for somebody else": {others, nil},
		"no term, which nothing meets": {networks.VolumeOn(), nil},
		"a label that a driver invents": {
			networks.VolumeOn(networks.WithLabels(networks.Labelled("topology.example.com/node", "machine-0"))), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := observed.MachinesOf(networks.Claim(corev1.ClaimBound), test.volume); !slices.Equal(got, test.want) {
				t.Errorf("the machines are %v, want %v", got, test.want)
			}
			if got := observed.MachinesOf(networks.Claim(corev1.ClaimPending), test.volume); got != nil {
				t.Errorf("a claim that is not bound has the machines %v", got)
			}
		})
	}
}

func TestLostClaim(t *testing.T) {
	t.Parallel()
	for phase, lost := range map[corev1.PersistentVolumeClaimPhase]bool{
		corev1.ClaimLost: true, corev1.ClaimBound: false, corev1.ClaimPending: false, "": false,
	} {
		if got := observed.LostClaim(networks.Claim(phase)); (got != nil) != lost {
			t.Errorf("of a claim that is %q the disk is %+v", phase, got)
		}
	}
}
