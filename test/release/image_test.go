// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// builtPackage is a Go program that the Dockerfile builds, and copiedFolder a
	// folder of which it builds something.
	builtPackage = regexp.MustCompile(`\bgo build .*(\./\S+)\n`)
	copiedFolder = regexp.MustCompile(`(?m)^COPY (\w\S*) \.$`)
)

// Docker leaves out of what it builds from no file that a program of the
// Dockerfile is made of.
func TestDockerHasWhatItBuildsFrom(t *testing.T) {
	dockerfile, patterns := read(t, filepath.Join(root, "Dockerfile")), ignored(t)
	files := []string{"Dockerfile", "go.mod", "go.sum"}
	for _, program := range builtPackage.FindAllStringSubmatch(dockerfile, -1) {
		files = append(files, compiled(t, program[1])...)
	}
	for _, folder := range copiedFolder.FindAllStringSubmatch(dockerfile, -1) {
		files = append(files, strings.Fields(run(t, root, "git", "ls-files", folder[1]))...)
	}
	for _, needed := range []string{"cmd/operator/main.go", "node/Cargo.toml"} {
		if !slices.Contains(files, needed) {
			t.Errorf("the Dockerfile builds nothing from %s", needed)
		}
	}
	for _, file := range files {
		if pattern := ignoredBy(t, patterns, file); pattern != "" {
			t.Errorf(".dockerignore keeps %s from the Dockerfile: %s", file, pattern)
		}
	}
}

// compiled are the files of this repository that a program is compiled from,
// those that are embedded among them.
func compiled(t *testing.T, program string) []string {
	t.Helper()
	const format = `{{if and .Module .Module.Main}}{{$folder := .Dir}}` +
		`{{range .GoFiles}}{{$folder}}/{{.}}{{"\n"}}{{end}}` +
		`{{range .SFiles}}{{$folder}}/{{.}}{{"\n"}}{{end}}` +
		`{{range .EmbedFiles}}{{$folder}}/{{.}}{{"\n"}}{{end}}{{end}}`
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for path := range strings.FieldsSeq(run(t, root, "go", "list", "-deps", "-f", format, program)) {
		file, err := filepath.Rel(from, path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// ignored are the patterns of .dockerignore. What a pattern matches as a whole,
// from the root on, is left out with all that is in it.
func ignored(t *testing.T) []string {
	t.Helper()
	var patterns []string
	for line := range strings.Lines(read(t, filepath.Join(root, ".dockerignore"))) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "!") || strings.Contains(line, "**") {
			t.Fatalf("this test does not know what Docker makes of %s", line)
		}
		patterns = append(patterns, filepath.Clean(strings.TrimPrefix(line, "/")))
	}
	return patterns
}

// ignoredBy is the pattern that leaves a file out, if any does.
func ignoredBy(t *testing.T, patterns []string, file string) string {
	t.Helper()
	for _, pattern := range patterns {
		for path := file; path != "."; path = filepath.Dir(path) {
			matches, err := filepath.Match(pattern, path)
			if err != nil {
				t.Fatalf("%s: %v", pattern, err)
			}
			if matches {
				return pattern
			}
		}
	}
	return ""
}
