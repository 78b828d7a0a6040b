// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chart is one of files, by name.
func chart(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const readme = `# A chart

<!-- values: make generate writes them -->
what was there
<!-- end of values -->

The end.
`

func TestValues(t *testing.T) {
	t.Parallel()
	made, err := newReadme(chart(t, map[string]string{
		"README.md": readme, "values.schema.json": "{}",
		"values.yaml": `# Of nothing.

# -- The name, in two
# lines.
name: ""
image:
  # -- Its tag.
  # @default -- that of the chart
  tag: ""
# -- This | or that.
which: "1"
# -- As a whole.
whole:
  a: 1
`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(readme, "what was there\n", "\n| value | default | means |\n|---|---|---|\n"+
		"| `name` | `\"\"` | The name, in two lines. |\n| `image.tag` | that of the chart | Its tag. |\n"+
		"| `which` | `\"1\"` | This \\| or that. |\n| `whole` | `{\"a\":1}` | As a whole. |\n\n", 1)
	if made != want {
		t.Errorf("the README is\n%s\nwant\n%s", made, want)
	}
}

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		readme, values, says string
	}{
		"a comment": {readme, "# -- A.\na: 1\nb:\n  # What.\n  c: 2\n", `values.yaml: line 5: b.c has no comment that begins with "# -- "`},
		"values":    {readme, "[]", "values.yaml holds no values"},
		"a place":   {"# A chart\n", "# -- A.\na: 1\n", `README.md has no line "<!-- values: make generate writes them -->"`},
		"its end": {
			"<!-- values: make generate writes them -->\n", "# -- A.\na: 1\n", `README.md has no line "<!-- end of values -->"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newReadme(chart(t, map[string]string{
				"README.md": test.readme, "values.schema.json": "{}", "values.yaml": test.values,
			}))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v, want %s", err, test.says)
			}
		})
	}
}

// Every preset of the chart is in the table, and those with machines have a price.
func TestPresets(t *testing.T) {
	t.Parallel()
	table, err := presetsTable(filepath.Join("..", "..", "charts", "testnet"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "charts", "testnet", "presets", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no presets: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		_, row, found := strings.Cut(table, "| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !found || strings.Contains(name, "near") == strings.Contains(row, "not known") {
			t.Errorf("the row of %s is %q", name, row)
		}
	}
}
