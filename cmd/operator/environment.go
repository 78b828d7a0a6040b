// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// environment is what all machines that the nodes of all runs were on have in common. The
// judge is on another one, which says something of them only where they do not say it.
func environment(runs []result.Run) result.Environment {
	var systems, architectures, kernels []string
	for i := range runs {
		for _, machines := range runs[i].Machines {
			systems = append(systems, machines.OS)
			architectures = append(architectures, machines.Architecture)
			kernels = append(kernels, machines.Kernel)
		}
	}
	if len(systems) == 0 {
		return result.Environment{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	}
	return result.Environment{OS: common(systems), Architecture: common(architectures), Kernel: common(kernels)}
}

// common is what all say; empty when they differ.
func common(all []string) string {
	for _, one := range all {
		if one != all[0] {
			return ""
		}
	}
	return all[0]
}
