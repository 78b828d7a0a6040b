// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"regexp"
)

var (
	versionPattern = regexp.MustCompile(`providerVersion: '([^']+)'`)
	classPattern   = regexp.MustCompile(`(?ms)^class (\w+) extends cdktn\.(\w+) \{$(.*?)^\}$`)
	// A function that writes a block of a configuration.
	writerPattern = regexp.MustCompile(`(?ms)^function (\w+)ToHclTerraform\(struct\) \{$(.*?)^\}$`)
	// A member of a class, whose code follows.
	memberPattern = regexp.MustCompile(
		`(?m)^    // (\w+) - computed: (true|false), optional: (true|false), required: (true|false)$`)
	argumentPattern = regexp.MustCompile(
		`(?m)^ +(\w+): \{\n +value: .*\n +isBlock: (true|false),\n +type: "(\w+)",\n +storageClassType: "(\w+)",$`)
)

// module is what the bindings of one resource say.
type module struct {
	// version is that of the provider.
	version string
	// main is the class of the resource itself.
	main    string
	classes map[string]class
	// arguments are the arguments of the blocks, by the name of their class.
	arguments map[string]map[string]argument
}

// class is a resource, a block, or a list of blocks.
type class struct {
	// kind is the class that it extends.
	kind    string
	members []member
}

// member is an attribute or a block.
type member struct {
	name                         string
	computed, optional, required bool
	code                         string
}

// argument is how a configuration says an attribute or a block.
type argument struct {
	block bool
	// nesting is simple, list, set, map or struct.
	nesting string
	element string
}

func parse(source string) (*module, error) {
	result := &module{classes: map[string]class{}, arguments: map[string]map[string]argument{}}
	if match := versionPattern.FindStringSubmatch(source); match != nil {
		result.version = match[1]
	}
	for _, match := range classPattern.FindAllStringSubmatch(source, -1) {
		name, kind, code := match[1], match[2], match[3]
		result.classes[name] = class{kind: kind, members: parseMembers(code)}
		switch kind {
		case "TerraformResource", "TerraformProvider":
			result.main = name
			result.arguments[name] = parseArguments(code)
		}
	}
	for _, match := range writerPattern.FindAllStringSubmatch(source, -1) {
		result.arguments[upperFirst(match[1])] = parseArguments(match[2])
	}
	if result.main == "" {
		return nil, errors.New("no resource in the bindings")
	}
	return result, nil
}

func parseMembers(code string) []member {
	var members []member
	found := memberPattern.FindAllStringSubmatchIndex(code, -1)
	for i, match := range found {
		end := len(code)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		text := func(group int) string { return code[match[2*group]:match[2*group+1]] }
		members = append(members, member{
			name:     text(1),
			computed: text(2) == "true",
			optional: text(3) == "true",
			required: text(4) == "true",
			code:     code[match[1]:end],
		})
	}
	return members
}

func parseArguments(code string) map[string]argument {
	arguments := map[string]argument{}
	for _, match := range argumentPattern.FindAllStringSubmatch(code, -1) {
		arguments[match[1]] = argument{block: match[2] == "true", nesting: match[3], element: match[4]}
	}
	return arguments
}
