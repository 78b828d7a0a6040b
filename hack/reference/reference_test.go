// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var definitions = []string{"../../config/crd/bases"}

// Whoever asks kubectl explain for a field learns what it is: every field of
// every kind has a description, which begins with its name, or that of the type in Go.
func TestEveryFieldIsDescribed(t *testing.T) {
	read, err := read(definitions)
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range read {
		for _, version := range definition.Spec.Versions {
			for _, column := range version.AdditionalPrinterColumns {
				if column.Description == "" && column.Type != "date" {
					t.Errorf("%s: column %s has no description", definition.Spec.Names.Kind, column.Name)
				}
			}
			root := version.Schema.OpenAPIV3Schema
			if root.Description == "" {
				t.Errorf("%s has no description", definition.Spec.Names.Kind)
			}
			for _, name := range []string{"spec", "status"} {
				described(t, definition.Spec.Names.Kind+"."+name, name, root.Properties[name])
			}
		}
	}
}

// described looks at a field and all in it.
func described(t *testing.T, path, name string, field apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if first, _, _ := strings.Cut(field.Description, " "); !strings.EqualFold(first, name) {
		t.Errorf("%s: its description begins with %q, want its name", path, first)
	}
	object := &field
	if object.Items != nil {
		object = object.Items.Schema
	}
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		described(t, path+"."+name, name, object.Properties[name])
	}
}

// A field's row has what the API server holds it to.
func TestPage(t *testing.T) {
	read, err := read(definitions)
	if err != nil {
		t.Fatal(err)
	}
	page, err := newPage(read)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bounds, required and immutable": "| `shards` | integer | required | 1 to 1000; is fixed by genesis and cannot change | " +
			"shards is the number of shards",
		"default":                   "| `seed` | string | `shardyard` | 1 to 64 characters; is fixed by genesis",
		"enum":                      "| `retention` | string | `Delete` | `Delete`, `Retain` |",
		"rule of the object around": "| `iops` | integer |  | 100 to 1000000; cannot be set together with storageClassName",
		"list":                      "| list of [ShardNetwork.spec.regions](#shardnetworkspecregions) |  | 1 to 16 items; one of each",
		"quantity":                  "| `size` | quantity | required | at most 32 characters; cannot become less: disks grow and never shrink",
		"time":                      "| `endTime` | time |",
		"rule of a field in fields": "- `genesis.initialBalance`: the sum of all balances must be below 2^64\n",
		"column":                    "| TPS | `.status.transfersPerSecond` | Transfers executed per second, from finalised blocks |",
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(page, want) {
				t.Errorf("the page does not have %s", want)
			}
		})
	}
	// What benchmarks hold of networks is where networks are.
	if strings.Contains(page, "### Benchmark.spec.network.genesis\n") || strings.Count(page, "| `producersPerShard` |") != 1 {
		t.Error("the page says the same twice")
	}
}

// Text of a description is no part of the table that it stands in.
func TestCell(t *testing.T) {
	if got, want := cell("one\nline | <b>\n\nanother"), `one line \| &lt;b><br><br>another`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
