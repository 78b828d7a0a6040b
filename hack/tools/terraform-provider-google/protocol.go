// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

var nestings = map[string]tfprotov5.SchemaNestedBlockNestingMode{
	"single": tfprotov5.SchemaNestedBlockNestingModeSingle,
	"list":   tfprotov5.SchemaNestedBlockNestingModeList,
	"set":    tfprotov5.SchemaNestedBlockNestingModeSet,
}

// protocolSchema is a schema in the words of the plugin protocol.
func protocolSchema(from schema.Schema) (*tfprotov5.Schema, error) {
	block, err := protocolBlock(from.Block)
	if err != nil {
		return nil, err
	}
	return &tfprotov5.Schema{Version: from.Version, Block: block}, nil
}

func protocolBlock(from schema.Block) (*tfprotov5.SchemaBlock, error) {
	block := &tfprotov5.SchemaBlock{}
	for name, attribute := range from.Attributes {
		kind, err := tftypes.ParseJSONType(attribute.Type) //nolint:staticcheck // there is no other parser
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		block.Attributes = append(block.Attributes, &tfprotov5.SchemaAttribute{
			Name:     name,
			Type:     kind,
			Required: attribute.Required,
			Optional: attribute.Optional,
			Computed: attribute.Computed,
		})
	}
	for name, nested := range from.Blocks {
		nesting, known := nestings[nested.Nesting]
		if !known {
			return nil, fmt.Errorf("block %s: unknown nesting mode %q", name, nested.Nesting)
		}
		inner, err := protocolBlock(nested.Block)
		if err != nil {
			return nil, fmt.Errorf("block %s: %w", name, err)
		}
		block.BlockTypes = append(block.BlockTypes, &tfprotov5.SchemaNestedBlock{
			TypeName: name,
			Nesting:  nesting,
			Block:    inner,
			MinItems: nested.MinItems,
			MaxItems: nested.MaxItems,
		})
	}
	return block, nil
}
