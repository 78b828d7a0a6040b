// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InvalidError says what is wrong with the fields of a manifest.
type InvalidError struct {
	// Fields holds the errors, each with the path of its field.
	Fields field.ErrorList
}

// Error lists the errors in one line.
func (e *InvalidError) Error() string {
	return strings.Join(e.Lines(), "; ")
}

// Lines are the errors, a line each.
func (e *InvalidError) Lines() []string {
	lines := make([]string, 0, len(e.Fields))
	for _, err := range e.Fields {
		if err.Field == noField {
			lines = append(lines, err.Detail)
			continue
		}
		lines = append(lines, err.Error())
	}
	return lines
}

// noField is the path of errors that are about no field in particular.
var noField = (*field.Path)(nil).String()
