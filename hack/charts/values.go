// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The comments of values.yaml follow those of helm-docs: what a value means comes
// after description, over the value, and what to show of its default after shown.
const (
	description = "# -- "
	shown       = "# @default -- "
)

// valuesTable is the table of a chart's values, in the order of values.yaml.
func valuesTable(chart string) (string, error) {
	content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return "", err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return "", fmt.Errorf("values.yaml: %w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return "", fmt.Errorf("values.yaml holds no values")
	}
	table := &strings.Builder{}
	table.WriteString("| value | default | means |\n|---|---|---|\n")
	if err := addValues(table, "", document.Content[0]); err != nil {
		return "", fmt.Errorf("values.yaml: %w", err)
	}
	return table.String(), nil
}

// addValues adds the rows of an object's values. One whose meaning is said as a whole
// has one row; any other is made of values.
func addValues(table *strings.Builder, prefix string, object *yaml.Node) error {
	for i := 0; i+1 < len(object.Content); i += 2 {
		key, value := object.Content[i], object.Content[i+1]
		path := prefix + key.Value
		means, standard := explained(key.HeadComment)
		if means == "" {
			if value.Kind != yaml.MappingNode || len(value.Content) == 0 {
				return fmt.Errorf("line %d: %s has no comment that begins with %q", key.Line, path, description)
			}
			if err := addValues(table, path+".", value); err != nil {
				return err
			}
			continue
		}
		if standard == "" {
			var err error
			if standard, err = written(value); err != nil {
				return fmt.Errorf("line %d: %s: %w", value.Line, path, err)
			}
		}
		fmt.Fprintf(table, "| `%s` | %s | %s |\n", path, standard, strings.ReplaceAll(means, "|", `\|`))
	}
	return nil
}

// explained is what a comment says of a value, and of its default; empty when it says
// nothing.
func explained(comment string) (means, standard string) {
	_, after, found := strings.Cut("\n"+comment, "\n"+description)
	if !found {
		return "", ""
	}
	var words []string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, shown); ok {
			standard = text
			continue
		}
		words = append(words, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	return strings.Join(words, " "), standard
}

// written is a value as one writes it on a command line.
func written(value *yaml.Node) (string, error) {
	if value.Kind == yaml.ScalarNode && value.Value != "" {
		if value.Tag == "!!str" && value.Style != 0 {
			return "`\"" + value.Value + "\"`", nil
		}
		return "`" + value.Value + "`", nil
	}
	var decoded any
	if err := value.Decode(&decoded); err != nil {
		return "", err
	}
	content, err := json.Marshal(decoded)
	if err != nil {
		return "", err
	}
	return "`" + string(content) + "`", nil
}
