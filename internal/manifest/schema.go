// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	openapivalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/config/crd"
)

// resourceSchema is what the API server makes of one version of a
// CustomResourceDefinition.
type resourceSchema struct {
	structural *structuralschema.Structural
	openAPI    openapivalidation.SchemaValidator
	rules      *cel.Validator
}

// kind is a kind of resources that manifests are read of.
type kind struct {
	name string
	// schema is compiled on first use.
	schema func() (*resourceSchema, error)
}

var (
	shardNetworks      = newKind(v1alpha1.KindShardNetwork, crd.ShardNetwork)
	benchmarks         = newKind(v1alpha1.KindBenchmark, crd.Benchmark)
	benchmarkSchedules = newKind(v1alpha1.KindBenchmarkSchedule, crd.BenchmarkSchedule)
	faults             = newKind(v1alpha1.KindFault, crd.Fault)
)

func newKind(name string, definition []byte) kind {
	return kind{name: name, schema: sync.OnceValues(func() (*resourceSchema, error) {
		schema, err := newResourceSchema(definition, v1alpha1.GroupVersion.Version)
		if err != nil {
			return nil, fmt.Errorf("definition of %s: %w", name, err)
		}
		return schema, nil
	})}
}

func newResourceSchema(definition []byte, version string) (*resourceSchema, error) {
	properties, err := schemaOfVersion(definition, version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(properties)
	if err != nil {
		return nil, fmt.Errorf("read structural schema: %w", err)
	}
	openAPI, _, err := openapivalidation.NewSchemaValidator(properties)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI schema: %w", err)
	}
	return &resourceSchema{
		structural: structural,
		openAPI:    openAPI,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// schemaOfVersion finds a version's schema, in the internal form that the
// API server's library works on.
func schemaOfVersion(definition []byte, version string) (*apiextensions.JSONSchemaProps, error) {
	var resource apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(definition, &resource); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	for _, candidate := range resource.Spec.Versions {
		if candidate.Name != version {
			continue
		}
		var internal apiextensions.CustomResourceValidation
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			candidate.Schema, &internal, nil,
		); err != nil {
			return nil, fmt.Errorf("convert schema: %w", err)
		}
		return internal.OpenAPIV3Schema, nil
	}
	return nil, fmt.Errorf("has no version %s", version)
}
