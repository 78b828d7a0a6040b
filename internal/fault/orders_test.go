// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
)

// A node shows a fault by the part of it that has one, and none by another.
func TestShows(t *testing.T) {
	t.Parallel()
	parts := [3]chain.Status{{FaultyLinks: 1}, {DiskFault: ptr.To(chain.DiskSlow)}, {ClockOffsetMilliseconds: -1}}
	for action, want := range map[v1alpha1.FaultAction][3]bool{
		v1alpha1.FaultActionKill: {}, v1alpha1.FaultActionPause: {}, v1alpha1.FaultActionByzantine: {},
		v1alpha1.FaultActionPartition: {true}, v1alpha1.FaultActionDelay: {true}, v1alpha1.FaultActionLoss: {true},
		v1alpha1.FaultActionSlowDisk: {1: true}, v1alpha1.FaultActionFullDisk: {1: true}, v1alpha1.FaultActionWrongClock: {2: true},
	} {
		var got [3]bool
		for i := range parts {
			got[i] = fault.Shows(action, &chain.Status{}, &parts[i])
		}
		if got != want || fault.Shows(action, &parts[0], &chain.Status{}) {
			t.Errorf("%s is shown by a fault of links, of the disk and of the clock: %v, want %v", action, got, want)
		}
	}
}

// Another build shows itself by its version, whatever else it tells.
func TestAnotherBuildShows(t *testing.T) {
	t.Parallel()
	before := &chain.Status{Version: "0.1.0"}
	for version, want := range map[string]bool{"0.1.0": false, "0.1.0 with planted faults": true, "": true} {
		status := &chain.Status{Version: version, FaultyLinks: 1}
		if got := fault.Shows(v1alpha1.FaultActionByzantine, before, status); got != want {
			t.Errorf("version %q shows another build: %t, want %t", version, got, want)
		}
		if fault.Shows(v1alpha1.FaultActionPause, before, status) {
			t.Errorf("version %q shows a pause", version)
		}
	}
}
