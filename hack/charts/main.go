// SPDX-License-Identifier: Apache-2.0

// Command charts prints the README of a chart, which make generate writes: the one that
// is there, with tables of its values and, if it has some, of its presets in the place
// of those between marks.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: charts CHART")
	}
	readme, err := newReadme(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = os.Stdout.WriteString(readme)
	return err
}

// newReadme is the README of a chart with what is generated as it should be.
func newReadme(chart string) (string, error) {
	content, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		return "", err
	}
	values, err := valuesTable(chart)
	if err != nil {
		return "", err
	}
	readme, err := replace(string(content), "values", values)
	if err != nil {
		return "", err
	}
	presets, err := presetsTable(chart)
	if err != nil || presets == "" {
		return readme, err
	}
	return replace(readme, "presets", presets)
}

// replace puts a text between the marks of a name.
func replace(readme, name, text string) (string, error) {
	begin, end := "<!-- "+name+": make generate writes them -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(readme, begin)
	if !found {
		return "", fmt.Errorf("README.md has no line %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("README.md has no line %q", strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
