// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Parse does what Read does, on the content of a file.
func Parse(content []byte) (*v1alpha1.ShardNetwork, error) {
	return parse(content, (*resourceSchema).validateCreate)
}

// ParseUpdate does what ReadUpdate does, on the content of a file.
func ParseUpdate(content []byte, old *v1alpha1.ShardNetwork) (*v1alpha1.ShardNetwork, error) {
	oldManifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(old)
	if err != nil {
		return nil, fmt.Errorf("convert the network as it was: %w", err)
	}
	delete(oldManifest, "status")
	return parse(content, func(schema *resourceSchema, ctx context.Context, manifest object) field.ErrorList {
		return schema.validateUpdate(ctx, manifest, oldManifest)
	})
}

func parse(
	content []byte,
	validate func(*resourceSchema, context.Context, object) field.ErrorList,
) (*v1alpha1.ShardNetwork, error) {
	schema, err := shardNetworkSchema()
	if err != nil {
		return nil, err
	}
	manifest, err := splitDocument(content)
	if err != nil {
		return nil, err
	}
	if errs := validateType(manifest); len(errs) > 0 {
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

	var network v1alpha1.ShardNetwork
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(manifest, &network); err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return &network, nil
}

// setDefaultNamespace does what clients of the API server do.
func setDefaultNamespace(manifest object) {
	if object := (&unstructured.Unstructured{Object: manifest}); object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
}
