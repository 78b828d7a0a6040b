// SPDX-License-Identifier: Apache-2.0

package fault

import "github.com/shardyard/shardyard/api/v1alpha1"

// Program takes the place of the node program.
type Program struct {
	// Path is where it is.
	Path string `json:"path"`
	// Arguments come before those of a node.
	Arguments []string `json:"arguments,omitempty"`
}

// ProgramOf is the program that a fault has take the place of nodes; nil if there is
// none.
func ProgramOf(spec *v1alpha1.FaultSpec) *Program {
	if spec.Byzantine == nil {
		return nil
	}
	return &Program{Path: spec.Byzantine.Program, Arguments: spec.Byzantine.Arguments}
}
