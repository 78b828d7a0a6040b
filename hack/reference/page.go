// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const introduction = "# API reference\n\n" +
	"<!-- Written by make generate from api/v1alpha1. -->\n\n" +
	"Every field of every kind of the group `%s`. A field without a default that is not required may be left out, and its meaning says " +
	"what holds then. What a field cannot be is in the column of limits: the API server refuses it, and so do `shardyard validate` and " +
	"`shardyard up`, in the same words. `kubectl explain` knows the meanings too: `kubectl explain shardnetwork.spec.genesis`.\n"

// page is the page while it is written.
type page struct {
	text strings.Builder
	// sections are the headings of the objects that have been written, by what
	// the objects hold.
	sections map[string]string
}

// section is an object whose fields are still to be written.
type section struct {
	heading string
	schema  *apiextensionsv1.JSONSchemaProps
}

// newPage writes the page of some definitions.
func newPage(definitions []*apiextensionsv1.CustomResourceDefinition) (string, error) {
	written := &page{sections: map[string]string{}}
	fmt.Fprintf(&written.text, introduction, definitions[0].Spec.Group)
	written.text.WriteString("\n| kind | version | short name | scope |\n|---|---|---|---|\n")
	for _, definition := range definitions {
		names, version := definition.Spec.Names, definition.Spec.Versions[0]
		fmt.Fprintf(&written.text, "| %s | `%s` | `%s` | %s |\n", link(names.Kind, names.Kind),
			version.Name, strings.Join(names.ShortNames, "`, `"), strings.ToLower(string(definition.Spec.Scope)))
	}
	for _, definition := range definitions {
		if len(definition.Spec.Versions) != 1 {
			return "", fmt.Errorf("%s has %d versions, the page is of one", definition.Name, len(definition.Spec.Versions))
		}
		if err := written.kind(definition); err != nil {
			return "", fmt.Errorf("write %s: %w", definition.Name, err)
		}
	}
	return written.text.String(), nil
}

// kind writes what there is to say of a kind, and its objects from the outside
// inwards.
func (p *page) kind(definition *apiextensionsv1.CustomResourceDefinition) error {
	version := definition.Spec.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	heading := definition.Spec.Names.Kind
	fmt.Fprintf(&p.text, "\n## %s\n\n%s\n", heading, paragraphs(root.Description))
	p.columns(definition.Spec.Names.Plural, version.AdditionalPrinterColumns)
	if err := p.rules(root, nil); err != nil {
		return err
	}

	left := []section{}
	for _, name := range []string{"spec", "status"} {
		field, ok := root.Properties[name]
		if !ok {
			return fmt.Errorf("has no %s", name)
		}
		left = append(left, section{heading + "." + name, &field})
	}
	for len(left) > 0 {
		next := left[0]
		inner, err := p.section(next)
		if err != nil {
			return fmt.Errorf("%s: %w", next.heading, err)
		}
		left = append(inner, left[1:]...)
	}
	return nil
}

// columns writes what kubectl get shows.
func (p *page) columns(plural string, columns []apiextensionsv1.CustomResourceColumnDefinition) {
	if len(columns) == 0 {
		return
	}
	fmt.Fprintf(&p.text, "\nWhat `kubectl get %s` shows, and with `-o wide` the rest:\n\n| column | of | meaning |\n|---|---|---|\n", plural)
	for _, column := range columns {
		meaning := column.Description
		if column.Priority > 0 {
			meaning += " (`-o wide`)"
		}
		fmt.Fprintf(&p.text, "| %s | `%s` | %s |\n", column.Name, column.JSONPath, cell(meaning))
	}
}

// section writes the fields of an object, and returns the objects in it that
// have no section yet.
func (p *page) section(next section) ([]section, error) {
	p.sections[shape(next.schema)] = next.heading
	fmt.Fprintf(&p.text, "\n### %s\n\n%s\n", next.heading, paragraphs(next.schema.Description))
	if err := p.rules(next.schema, next.schema.Properties); err != nil {
		return nil, err
	}
	p.text.WriteString("\n| field | type | default | limits | meaning |\n|---|---|---|---|---|\n")
	own, err := ownRules(next.schema)
	if err != nil {
		return nil, err
	}
	var inner []section
	for _, name := range slices.Sorted(maps.Keys(next.schema.Properties)) {
		field := next.schema.Properties[name]
		typed, object := describeType(&field)
		if object != nil {
			heading, known := p.sections[shape(object)]
			if !known {
				heading = next.heading + "." + name
				p.sections[shape(object)] = heading
				inner = append(inner, section{heading, withDescription(object, field.Description)})
			}
			typed += link(heading, heading)
		}
		rules, err := rulesOfRow(&field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		limits := slices.Concat(describeLimits(&field), own[name], rules)
		fmt.Fprintf(&p.text, "| `%s` | %s | %s | %s | %s |\n", name, typed, describeDefault(next.schema, name, &field),
			cell(strings.Join(limits, "; ")), cell(field.Description))
	}
	return inner, nil
}

// rules writes the rules of an object about fields that have no row in its table.
func (p *page) rules(schema *apiextensionsv1.JSONSchemaProps, rows map[string]apiextensionsv1.JSONSchemaProps) error {
	own, err := ownRules(schema)
	if err != nil {
		return err
	}
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(own)) {
		if _, inTable := rows[field]; field == "" || inTable {
			continue
		}
		for _, rule := range own[field] {
			lines = append(lines, fmt.Sprintf("- `%s`: %s\n", field, rule))
		}
	}
	if len(lines) > 0 {
		p.text.WriteString("\nRules of fields further in:\n\n" + strings.Join(lines, ""))
	}
	return nil
}

// shape tells objects apart by what they hold: the same type has the same one
// wherever it is.
func shape(schema *apiextensionsv1.JSONSchemaProps) string {
	inward := []apiextensionsv1.ValidationRule{}
	for _, rule := range schema.XValidations {
		if rule.FieldPath != "" {
			inward = append(inward, rule)
		}
	}
	content, err := json.Marshal([]any{schema.Properties, schema.Required, inward})
	if err != nil {
		panic(err) // It was read from the same encoding.
	}
	return string(content)
}

// withDescription is an object with the description of the field that holds it,
// which for a list is the list's.
func withDescription(object *apiextensionsv1.JSONSchemaProps, description string) *apiextensionsv1.JSONSchemaProps {
	described := *object
	if described.Description == "" {
		described.Description = description
	}
	return &described
}

// link leads to a section.
func link(text, heading string) string {
	return "[" + text + "](#" + strings.ToLower(strings.ReplaceAll(heading, ".", "")) + ")"
}

// paragraphs are a description as text of the page, where a line is a
// paragraph.
func paragraphs(description string) string {
	parts := strings.Split(strings.ReplaceAll(description, "<", "&lt;"), "\n\n")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, "\n", " ")
	}
	return strings.Join(parts, "\n\n")
}

// cell is a description in a table, where a row is a line.
func cell(description string) string {
	return strings.ReplaceAll(strings.ReplaceAll(paragraphs(description), "\n\n", "<br><br>"), "|", `\|`)
}
