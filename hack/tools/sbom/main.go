// SPDX-License-Identifier: Apache-2.0

// Command sbom writes what a program is made of as a CycloneDX document: the Go modules that its binary says that it
// holds, or the crates that cargo tree lists. The same program gives the same bytes: there is no serial number, and the
// components are sorted.
package main

import (
	"bufio"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

const usage = `usage: sbom -name NAME -version VERSION -time RFC3339 (-go BINARY | -cargo TREE)

TREE is what cargo tree --prefix none --format '{p}|{l}' prints of the program's package, whose line is the first.
`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	name := flags.String("name", "", "")
	version := flags.String("version", "", "")
	made := flags.String("time", "", "")
	binary := flags.String("go", "", "")
	tree := flags.String("cargo", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" || *version == "" || (*binary == "") == (*tree == "") {
		flags.Usage()
		return errors.New("-name, -version and one of -go and -cargo are required")
	}
	if _, err := time.Parse(time.RFC3339, *made); err != nil {
		return fmt.Errorf("read -time: %w", err)
	}
	components, err := read(*binary, *tree)
	if err != nil {
		return err
	}
	document := cyclonedx.NewBOM()
	document.Metadata = &cyclonedx.Metadata{
		Timestamp: *made,
		Component: &cyclonedx.Component{
			BOMRef: *name, Type: cyclonedx.ComponentTypeApplication, Name: *name, Version: *version,
			Licenses: licences("Apache-2.0"),
		},
	}
	document.Components = &components
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON)
	return encoder.SetPretty(true).Encode(document)
}

func read(binary, tree string) ([]cyclonedx.Component, error) {
	byURL := map[string]cyclonedx.Component{}
	var err error
	if binary != "" {
		err = readGo(binary, byURL)
	} else {
		err = readCargo(tree, byURL)
	}
	if err != nil {
		return nil, err
	}
	if len(byURL) == 0 {
		return nil, errors.New("the program is made of nothing else")
	}
	components := make([]cyclonedx.Component, 0, len(byURL))
	for _, url := range slices.Sorted(maps.Keys(byURL)) {
		components = append(components, byURL[url])
	}
	return components, nil
}

// readGo adds the modules of a binary, and Go itself, whose standard library it holds.
func readGo(binary string, to map[string]cyclonedx.Component) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read what %s was built from: %w", binary, err)
	}
	add(to, "pkg:golang/std@"+strings.TrimPrefix(info.GoVersion, "go"), "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		add(to, "pkg:golang/"+module.Path+"@"+module.Version, module.Path, module.Version, "")
	}
	return nil
}

// readCargo adds the crates of a tree, but for those of its first line's workspace, which are the program itself.
func readCargo(tree string, to map[string]cyclonedx.Component) error {
	file, err := os.Open(tree)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		crate, licence, found := strings.Cut(lines.Text(), "|")
		words := strings.Fields(crate)
		if !found || len(words) < 2 || !strings.HasPrefix(words[1], "v") {
			return fmt.Errorf("%q is no line of cargo tree with '{p}|{l}'", lines.Text())
		}
		// A crate of the workspace is followed by its folder, and a procedural macro by what it is.
		if len(words) > 2 && strings.HasPrefix(words[2], "(/") {
			continue
		}
		name, version := words[0], strings.TrimPrefix(words[1], "v")
		// What is listed again is marked, and older crates part their licences with a slash.
		licence = strings.ReplaceAll(strings.TrimSuffix(licence, " (*)"), "/", " OR ")
		add(to, "pkg:cargo/"+name+"@"+version, name, version, licence)
	}
	return lines.Err()
}

func add(to map[string]cyclonedx.Component, url, name, version, licence string) {
	to[url] = cyclonedx.Component{
		BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: url, Licenses: licences(licence),
	}
}

// licences is nil where none is known.
func licences(expression string) *cyclonedx.Licenses {
	if expression == "" {
		return nil
	}
	return &cyclonedx.Licenses{{Expression: expression}}
}
