// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	openapivalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// The two functions below follow customResourceStrategy of
// k8s.io/apiextensions-apiserver step by step. The strategy itself cannot be
// taken: it comes with the storage of the API server.

// validateCreate checks a decoded manifest as a new object.
func (s *resourceSchema) validateCreate(ctx context.Context, manifest object) field.ErrorList {
	errs := validateMetadata(manifest)
	errs = append(errs, openapivalidation.ValidateCustomResource(nil, manifest, s.openAPI)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, manifest)...)
	if slices.ContainsFunc(errs, blocksRules) {
		return append(errs, errRulesNotChecked())
	}
	broken, _ := s.rules.Validate(ctx, nil, s.structural, manifest, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// validateUpdate checks a decoded manifest as the new state of an object.
// Values that the update leaves as they are do not count as errors.
func (s *resourceSchema) validateUpdate(ctx context.Context, manifest, old object) field.ErrorList {
	correlated := common.NewCorrelatedObject(manifest, old, &model.Structural{Structural: s.structural})

	errs := validateMetadata(manifest)
	errs = append(errs, validateSameName(manifest, old)...)
	errs = append(errs, openapivalidation.ValidateCustomResourceUpdate(
		nil, manifest, old, s.openAPI, openapivalidation.WithRatcheting(correlated))...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, manifest)...)
	if slices.ContainsFunc(errs, blocksRules) {
		return append(errs, errRulesNotChecked())
	}
	broken, _ := s.rules.Validate(ctx, nil, s.structural, manifest, old, celconfig.RuntimeCELCostBudget,
		cel.WithRatcheting(correlated))
	return append(errs, broken...)
}

// validateType checks that a document is of a kind and of the version that this
// package knows.
func validateType(manifest object, kind string) field.ErrorList {
	errs := validateTypeField(manifest, "apiVersion", v1alpha1.GroupVersion.String())
	return append(errs, validateTypeField(manifest, "kind", kind)...)
}

func validateTypeField(manifest object, name, want string) field.ErrorList {
	path := field.NewPath(name)
	switch got, found := manifest[name]; {
	case !found:
		return field.ErrorList{field.Required(path, "must be "+want)}
	case got != want:
		return field.ErrorList{field.Invalid(path, got, "must be "+want)}
	default:
		return nil
	}
}

func validateMetadata(manifest object) field.ErrorList {
	return metavalidation.ValidateObjectMetaAccessor(&unstructured.Unstructured{Object: manifest}, true,
		metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

func validateSameName(manifest, old object) field.ErrorList {
	name := (&unstructured.Unstructured{Object: manifest}).GetName()
	oldName := (&unstructured.Unstructured{Object: old}).GetName()
	return metavalidation.ValidateImmutableField(name, oldName, field.NewPath("metadata", "name"))
}

// blocksRules says whether an object with this error is not fit for rules: they
// expect the types, presence and sizes that the schema promises.
func blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
		field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	default:
		return false
	}
}

func errRulesNotChecked() *field.Error {
	return field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
		"correct the existing errors to complete validation")
}
