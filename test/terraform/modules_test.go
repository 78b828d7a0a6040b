// SPDX-License-Identifier: Apache-2.0

package terraform_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t, newTree(t))
	if _, err := tf.run("fmt", "-no-color", "-check", "-diff", "-recursive"); err != nil {
		t.Errorf("%v\nterraform fmt -recursive terraform writes it", err)
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	tree := newTree(t)
	modules, err := filepath.Glob(filepath.Join(tree, "modules", "*", "versions.tf"))
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) == 0 {
		t.Fatal("there are no modules")
	}
	for _, versions := range modules {
		t.Run(filepath.Base(filepath.Dir(versions)), func(t *testing.T) {
			t.Parallel()
			tf := newTerraform(t, filepath.Dir(versions))
			tf.mustRun(t, "validate", "-no-color")
			t.Logf("%s", tf.mustRun(t, "test", "-no-color"))
		})
	}
}

// A test of the root with the name of an example is run with it.
func TestRoot(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t, newTree(t))
	tf.mustRun(t, "validate", "-no-color")

	tests, err := filepath.Glob(filepath.Join(tf.folder, "tests", "*.tftest.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) == 0 {
		t.Fatal("there are no tests")
	}
	for _, test := range tests {
		name := strings.TrimSuffix(filepath.Base(test), ".tftest.hcl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"test", "-no-color", "-filter=tests/" + name + ".tftest.hcl"}
			if _, err := os.Stat(filepath.Join(tf.folder, "examples", name+".tfvars")); err == nil {
				arguments = append(arguments, "-var-file=examples/"+name+".tfvars")
			}
			t.Logf("%s", tf.mustRun(t, arguments...))
		})
	}
}

// What is checked here is the schema of one version: the constraint must not let
// an older one in.
func TestProviderIsOfTheVersionOfTheSchema(t *testing.T) {
	schema, err := os.ReadFile("../../hack/tools/terraform-provider-google/schema/google.json")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`"provider_version": "([0-9.]+)"`).FindSubmatch(schema)
	if version == nil {
		t.Fatal("the schema has no version")
	}
	want := `version = "` + string(version[1]) + `"`

	found := 0
	for _, pattern := range []string{"versions.tf", "modules/*/versions.tf"} {
		files, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(content), "hashicorp/google") {
				continue
			}
			found++
			if !strings.Contains(string(content), want) {
				t.Errorf("%s has no %s", file, want)
			}
		}
	}
	if found == 0 {
		t.Error("nothing requires the google provider")
	}
}
