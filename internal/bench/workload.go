// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
)

// Workload is what the generators of nodes are told of a load: nothing, where it
// is what they draw by default, as all nodes do that cannot be told.
func Workload(load *v1alpha1.LoadSpec) chain.Workload {
	if load == nil || load.Workload == nil {
		return chain.Workload{}
	}
	told := chain.Workload{
		Senders:            string(load.Workload.Senders),
		Receivers:          string(load.Workload.Receivers),
		WithinShardPercent: load.Workload.WithinShardPercent,
	}
	if told.Same(chain.Workload{}) {
		return chain.Workload{}
	}
	return told
}
