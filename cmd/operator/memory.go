// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
)

// memoryShare is how much of its container's memory the program lets Go use before
// it collects garbage more often. The rest is for what Go does not count: its own
// program, above all.
const memoryShare = 0.8

// limitMemory has Go collect garbage before the container's memory is used up. Left to
// itself, it would wait until there is twice as much as is in use, and the operator of
// a large network, or the judge of long runs, would be killed for memory that it no longer
// needs.
func limitMemory(log logr.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare))
	if err != nil {
		// Machines without cgroups have no such limit.
		log.Info("the memory limit of the container is not known, and not heeded", "reason", err.Error())
		return
	}
	if limit != math.MaxInt64 {
		log.Info("garbage is collected before memory is used up", "limit", fmt.Sprintf("%d MiB", limit>>20))
	}
}
