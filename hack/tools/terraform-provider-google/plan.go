// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

// withUnknowns is a proposed value in which what the configuration leaves to
// Google is unknown, as it is in a plan before anything exists.
func withUnknowns(block schema.Block, value tftypes.Value) (tftypes.Value, error) {
	if value.IsNull() || !value.IsKnown() {
		return value, nil
	}
	members := map[string]tftypes.Value{}
	if err := value.As(&members); err != nil {
		return value, fmt.Errorf("read an object: %w", err)
	}
	for name, attribute := range block.Attributes {
		if attribute.Computed && members[name].IsNull() {
			members[name] = tftypes.NewValue(members[name].Type(), tftypes.UnknownValue)
		}
	}
	for name, nested := range block.Blocks {
		filled, err := nestedWithUnknowns(nested, members[name])
		if err != nil {
			return value, fmt.Errorf("block %s: %w", name, err)
		}
		members[name] = filled
	}
	return tftypes.NewValue(value.Type(), members), nil
}

func nestedWithUnknowns(nested schema.Nested, value tftypes.Value) (tftypes.Value, error) {
	if nested.Nesting == "single" {
		return withUnknowns(nested.Block, value)
	}
	if value.IsNull() || !value.IsKnown() {
		return value, nil
	}
	var items []tftypes.Value
	if err := value.As(&items); err != nil {
		return value, fmt.Errorf("read a list: %w", err)
	}
	for i, item := range items {
		filled, err := withUnknowns(nested.Block, item)
		if err != nil {
			return value, err
		}
		items[i] = filled
	}
	return tftypes.NewValue(value.Type(), items), nil
}
