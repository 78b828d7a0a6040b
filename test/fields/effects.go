// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Change is a change of one field, and all that it changes.
type Change struct {
	// Given is what the manifest says besides, before and after.
	Given map[string]any
	// To is another value of the field.
	To any
	// Set, in the place of To, are the values of several paths: where the field
	// cannot change alone, or in one item of a list alone.
	Set map[string]any
	// Along are the other fields that change by it.
	Along []string
	// In is where the change is to be seen, and nowhere else.
	In []Effect
	// Refused, in the place of In, says why nothing may have the field at all.
	Refused string
}

// CheckEffects checks that every field does something: where it is changed, what is
// made of it is another, in the places that are named and in no others.
func (k *Kind[T]) CheckEffects(t *testing.T) {
	t.Helper()
	known := k.fields(t)
	for field, schema := range known {
		// What has one value cannot be changed.
		if _, ok := k.Changes[field]; !ok && len(schema.Enum) != 1 {
			t.Errorf("%s is not in the table: say what it changes", field)
		}
	}
	for field, change := range k.Changes {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			if known[field] == nil {
				t.Fatal("there is no such field")
			}
			k.check(t, field, &change)
		})
	}
}

func (k *Kind[T]) check(t *testing.T, field string, change *Change) {
	t.Helper()
	before, err := k.read(t, change.Given)
	if err != nil {
		t.Fatal(err)
	}
	after, err := k.read(t, change.edits(field, change.To))
	if change.Refused != "" {
		if err == nil || !strings.Contains(err.Error(), change.Refused) {
			t.Errorf("the error is %v, want it to say %q", err, change.Refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}

	changed := different(k.leaves(t, before), k.leaves(t, after))
	if want := slices.Sorted(slices.Values(append([]string{field}, change.Along...))); !slices.Equal(changed, want) {
		t.Errorf("the fields %v are changed, want %v", changed, want)
	}
	if len(change.In) == 0 {
		t.Error("the table does not say what the field changes")
	}
	seen := different(k.Effects(t, before), k.Effects(t, after))
	if want := slices.Sorted(slices.Values(change.In)); !slices.Equal(seen, want) {
		t.Errorf("the change is to be seen in %q, want %q", seen, want)
	}
}

// edits are what the manifest says with the change, and with a value of the field
// if the change sets nothing else.
func (c *Change) edits(field string, value any) map[string]any {
	edits := Object{}
	maps.Copy(edits, c.Given)
	maps.Copy(edits, c.Set)
	if c.Set == nil {
		edits[inManifest(field)] = value
	}
	return edits
}
