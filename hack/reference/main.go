// SPDX-License-Identifier: Apache-2.0

// Command reference prints the page docs/api.md, which make generate writes:
// every field of every kind, from the CustomResourceDefinitions in folders.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: reference CRDS [CRDS]")
	}
	definitions, err := read(args)
	if err != nil {
		return err
	}
	page, err := newPage(definitions)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(page)
	return err
}

// kinds are in the order of the page, which says once what several of them
// hold: where it is first.
var kinds = []string{
	v1alpha1.KindShardNetwork, v1alpha1.KindBenchmark, v1alpha1.KindBenchmarkSchedule, v1alpha1.KindNodeTuning,
	v1alpha1.KindFault,
}

// read reads the definitions in folders, in the order of the page.
func read(folders []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var paths []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	byKind := make(map[string]*apiextensionsv1.CustomResourceDefinition, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			return nil, fmt.Errorf("parse %s: %w", path, err)
		}
		byKind[definition.Spec.Names.Kind] = &definition
	}
	if len(byKind) != len(kinds) {
		return nil, fmt.Errorf("%v hold %d kinds, the page is of %d", folders, len(byKind), len(kinds))
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(kinds))
	for _, kind := range kinds {
		definition, ok := byKind[kind]
		if !ok {
			return nil, fmt.Errorf("%v have no definition of %s", folders, kind)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}
