// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CheckErrors checks that every field that has a wrong value is named by the error
// about it.
func (k *Kind[T]) CheckErrors(t *testing.T) {
	t.Helper()
	for field, schema := range k.fields(t) {
		change := k.Changes[field]
		if change.Refused != "" {
			continue
		}
		for kind, value := range wrongValues(schema) {
			t.Run(field+"/"+kind, func(t *testing.T) {
				t.Parallel()
				// The rest is as in one that may have the field.
				path, edits := inManifest(field), change.edits(field, value)
				edits[path] = value
				_, err := k.read(t, edits)
				if err == nil || !strings.Contains(err.Error(), path+":") && !strings.Contains(err.Error(), path+"[0]:") &&
					!strings.Contains(err.Error(), path+"["+wrongKey+"]:") && !strings.Contains(err.Error(), path+"."+wrongKey+":") {
					t.Errorf("with %v, the error is %v; want it to name %s", value, err, path)
				}
			})
		}
	}
}

// wrongKey is the key of a map whose value is wrong.
const wrongKey = "wrong"

// strange is what no pattern of a field allows.
const strange = "§ §"

// wrongValues are values that a field cannot have: of another type, just beyond each
// of its bounds, of which every field has some, and against its pattern. So are lists
// with an item, and maps with a value, that is wrong.
func wrongValues(schema *Schema) map[string]any {
	wrong := map[string]any{"of another type": true}
	switch {
	case schema.Type == "array":
		wrong["too short"], wrong["too long"] = []any{}, slices.Repeat([]any{"a"}, 1<<10)
		wrong["with an item of another type"] = []any{Object{}}
	case schema.XIntOrString:
		wrong["no quantity"] = "plenty"
	case schema.AdditionalProperties != nil:
		wrong["of no key"] = Object{"": "a"}
		wrong["with a value of another type"] = Object{wrongKey: []any{}}
		wrong["too many"] = manyKeys()
	case len(schema.Enum) > 0:
		wrong["no such word"] = "Wrong"
	case schema.Type == "string":
		wrong["too long"] = strings.Repeat("a", 1<<10)
		if schema.Pattern != "" {
			wrong["against its pattern"] = strange
		}
		if schema.Pattern == "" || !regexp.MustCompile(schema.Pattern).MatchString("") {
			wrong["empty"] = ""
		}
	case schema.Type == "integer":
		wrong["too small"] = int64(*schema.Minimum) - 1
		if schema.Maximum != nil {
			wrong["too large"] = int64(*schema.Maximum) + 1
		} else if schema.Format == "int64" {
			wrong["beyond all"] = math.MaxInt64 * 2.0
		}
	}
	return wrong
}

func manyKeys() Object {
	keys := Object{}
	for i := range 1 << 10 {
		keys[fmt.Sprintf("key-%d", i)] = "a"
	}
	return keys
}
