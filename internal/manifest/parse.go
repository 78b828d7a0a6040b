// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Parse does what Read does, on the content of a file.
func Parse(content []byte) (*v1alpha1.ShardNetwork, error) {
	return parse[v1alpha1.ShardNetwork](content, shardNetworks, (*resourceSchema).validateCreate)
}

// ParseBenchmark does what ReadBenchmark does, on the content of a file.
func ParseBenchmark(content []byte) (*v1alpha1.Benchmark, error) {
	return parse[v1alpha1.Benchmark](content, benchmarks, (*resourceSchema).validateCreate)
}

// ParseBenchmarkSchedule does what ReadBenchmarkSchedule does, on the content of a
// file.
func ParseBenchmarkSchedule(content []byte) (*v1alpha1.BenchmarkSchedule, error) {
	return parse[v1alpha1.BenchmarkSchedule](content, benchmarkSchedules, (*resourceSchema).validateCreate)
}

// ParseFault does what ReadFault does, on the content of a file.
func ParseFault(content []byte) (*v1alpha1.Fault, error) {
	return parse[v1alpha1.Fault](content, faults, (*resourceSchema).validateCreate)
}

// ParseUpdate does what ReadUpdate does, on the content of a file.
func ParseUpdate(content []byte, old *v1alpha1.ShardNetwork) (*v1alpha1.ShardNetwork, error) {
	oldManifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(old)
	if err != nil {
		return nil, fmt.Errorf("convert the network as it was: %w", err)
	}
	delete(oldManifest, "status")
	update := func(schema *resourceSchema, ctx context.Context, manifest object) field.ErrorList {
		// A conversion leaves out what is zero, and an API server fills it in.
		defaulting.Default(oldManifest, schema.structural)
		return schema.validateUpdate(ctx, manifest, oldManifest)
	}
	return parse[v1alpha1.ShardNetwork](content, shardNetworks, update)
}

func parse[Resource any](
	content []byte,
	kind kind,
	validate func(*resourceSchema, context.Context, object) field.ErrorList,
) (*Resource, error) {
	schema, err := kind.schema()
	if err != nil {
		return nil, err
	}
	manifest, err := splitDocument(content, kind.name)
	if err != nil {
		return nil, err
	}
	if errs := validateType(manifest, kind.name); len(errs) > 0 {
		return nil, newInvalidError(errs)
	}
	if err := schema.decode(manifest); err != nil {
		return nil, err
	}
	setDefaultNamespace(manifest)
	// Nobody but the controller sets a status.
	delete(manifest, "status")
	if errs := validate(schema, context.Background(), manifest); len(errs) > 0 {
		return nil, newInvalidError(errs)
	}

	var resource Resource
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(manifest, &resource); err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return &resource, nil
}

// setDefaultNamespace does what clients of the API server do.
func setDefaultNamespace(manifest object) {
	if object := (&unstructured.Unstructured{Object: manifest}); object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
}
