// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/shardyard/shardyard/hack/tools/terraform-provider-google/schema"
)

var (
	getterPattern = regexp.MustCompile(`return (cdktn\.Fn\.tolist\()?this\.get(\w+)Attribute\(`)
	// A block, a list of blocks, or a map: the class, and whether the list is of a set.
	fieldPattern = regexp.MustCompile(`= new (?:\w+\.)?(\w+)\(this, "\w+"(?:, (true|false))?\);`)
)

// getters are the types of what the getters of the bindings return.
var getters = map[string]any{
	"Boolean":   "bool",
	"List":      []any{"list", "string"},
	"Number":    "number",
	"String":    "string",
	"StringMap": []any{"map", "string"},
}

// elements are the types of simple arguments.
var elements = map[string]string{"boolean": "bool", "number": "number", "string": "string"}

// top is the schema of the resource itself.
func (m *module) top() (schema.Block, error) {
	return m.block(m.main)
}

func (m *module) block(name string) (schema.Block, error) {
	class, known := m.classes[name]
	if !known {
		return schema.Block{}, fmt.Errorf("no class %s in the bindings", name)
	}
	block := schema.Block{Attributes: map[string]schema.Attribute{}, Blocks: map[string]schema.Nested{}}
	arguments := m.arguments[strings.TrimSuffix(name, "OutputReference")]
	for _, member := range class.members {
		argument := arguments[member.name]
		// alias belongs to Terraform, and the bindings do not tell what the provider's own blocks need.
		if class.kind == "TerraformProvider" && (argument.block || member.name == "alias") {
			continue
		}
		if argument.block {
			nested, err := m.nested(member, argument)
			if err != nil {
				return block, fmt.Errorf("block %s: %w", member.name, err)
			}
			block.Blocks[member.name] = nested
			continue
		}
		kind, err := m.attributeType(member, argument)
		if err != nil {
			return block, fmt.Errorf("attribute %s: %w", member.name, err)
		}
		encoded, err := json.Marshal(kind)
		if err != nil {
			return block, fmt.Errorf("attribute %s: %w", member.name, err)
		}
		block.Attributes[member.name] = schema.Attribute{
			Type: encoded, Required: member.required, Optional: member.optional, Computed: member.computed,
		}
	}
	return block, nil
}

// nested is a block inside another. The bindings tell a block that may be there
// once from one that may be repeated, and know of no other limit.
func (m *module) nested(member member, argument argument) (schema.Nested, error) {
	field := fieldPattern.FindStringSubmatch(member.code)
	if field == nil {
		return schema.Nested{}, fmt.Errorf("no class for it in %q", member.code)
	}
	nested := schema.Nested{Nesting: "list", MaxItems: 1}
	item := field[1]
	if list, repeated := strings.CutSuffix(item, "List"); repeated && m.classes[item].kind == "ComplexList" {
		item = list + "OutputReference"
		nested.MaxItems = 0
	}
	switch {
	case member.name == "timeouts":
		nested = schema.Nested{Nesting: "single"}
	case argument.nesting == "set":
		nested.Nesting = "set"
	}
	if member.required {
		nested.MinItems = 1
	}
	var err error
	nested.Block, err = m.block(item)
	return nested, err
}

// attributeType is the type of an attribute, in Terraform's JSON.
func (m *module) attributeType(member member, argument argument) (any, error) {
	if field := fieldPattern.FindStringSubmatch(member.code); field != nil {
		return m.objectType(field[1], field[2] == "true")
	}
	if getter := getterPattern.FindStringSubmatch(member.code); getter != nil {
		kind, known := getters[getter[2]]
		if !known {
			return nil, fmt.Errorf("unknown getter get%sAttribute", getter[2])
		}
		if getter[1] != "" {
			return []any{"set", "string"}, nil
		}
		return kind, nil
	}
	// The provider's own arguments have no getters that tell.
	element, known := elements[strings.TrimSuffix(strings.TrimSuffix(argument.element, "List"), "Map")]
	switch {
	case !known:
		return nil, fmt.Errorf("unknown type %q", argument.element)
	case argument.nesting == "simple":
		return element, nil
	default:
		return []any{argument.nesting, element}, nil
	}
}

// objectType is the type of an attribute that holds objects, which only Google
// writes.
func (m *module) objectType(class string, isSet bool) (any, error) {
	if class == "StringMap" {
		return []any{"map", "string"}, nil
	}
	block, err := m.block(strings.TrimSuffix(class, "List") + "OutputReference")
	if err != nil {
		return nil, err
	}
	nesting := "list"
	if isSet {
		nesting = "set"
	}
	return []any{nesting, typeOf(block)}, nil
}

// typeOf is the type of the objects of a block.
func typeOf(block schema.Block) any {
	members := map[string]any{}
	for name, attribute := range block.Attributes {
		members[name] = attribute.Type
	}
	for name, nested := range block.Blocks {
		members[name] = []any{nested.Nesting, typeOf(nested.Block)}
	}
	return []any{"object", members}
}

func upperFirst(word string) string {
	return strings.ToUpper(word[:1]) + word[1:]
}
