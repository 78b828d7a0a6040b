// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InvalidError says what is wrong with the fields of a manifest.
type InvalidError struct {
	// Fields holds the errors, each with the path of its field, in the order of
	// these paths. Errors about no field in particular come last.
	Fields field.ErrorList
}

// newInvalidError puts errors in order: they come in the order of maps.
func newInvalidError(errs field.ErrorList) *InvalidError {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		switch {
		case a.Field == b.Field:
			return 0
		case a.Field == noField:
			return 1
		case b.Field == noField:
			return -1
		default:
			return cmp.Compare(a.Field, b.Field)
		}
	})
	return &InvalidError{Fields: errs}
}

// Refuse is the error of a manifest that the API server takes, and that is
// refused because of one field all the same.
func Refuse(path, words string) *InvalidError {
	return &InvalidError{Fields: field.ErrorList{{Type: field.ErrorTypeForbidden, Field: path, Detail: words}}}
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
