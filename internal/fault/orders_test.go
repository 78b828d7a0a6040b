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
		v1alpha1.FaultActionKill: {}, v1alpha1.FaultActionPause: {},
		v1alpha1.FaultActionPartition: {true}, v1alpha1.FaultActionDelay: {true}, v1alpha1.FaultActionLoss: {true},
		v1alpha1.FaultActionSlowDisk: {1: true}, v1alpha1.FaultActionFullDisk: {1: true}, v1alpha1.FaultActionWrongClock: {2: true},
	} {
		var got [3]bool
		for i := range parts {
			got[i] = fault.Shows(action, &parts[i])
		}
		if got != want || fault.Shows(action, &chain.Status{}) {
			t.Errorf("%s is shown by a fault of links, of the disk and of the clock: %v, want %v", action, got, want)
		}
	}
}
