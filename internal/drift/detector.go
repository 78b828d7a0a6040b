// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Detector compares what one field manager applies with what a cluster has.
type Detector struct {
	manager string
	scheme  *runtime.Scheme
	// known knows which lists of the kinds of a scheme are sets of items with a
	// key; deduced takes every list for one value.
	known, deduced managedfields.TypeConverter
}

// NewDetector makes the detector of a field manager.
func NewDetector(scheme *runtime.Scheme, manager string) *Detector {
	return &Detector{
		manager: manager,
		scheme:  scheme,
		known:   applyconfigurations.NewTypeConverter(scheme),
		deduced: managedfields.NewDeducedTypeConverter(),
	}
}

// UpToDate says whether a cluster still has an object as it was applied. A field
// with another value than the wanted one is all the same as it was applied while
// the field manager owns it: whoever else writes it becomes its owner.
func (d *Detector) UpToDate(wanted *unstructured.Unstructured, live client.Object) (bool, error) {
	if live.GetAnnotations()[AnnotationApplied] != wanted.GetAnnotations()[AnnotationApplied] {
		return false, nil
	}
	different, err := d.difference(wanted, live)
	if err != nil {
		return false, fmt.Errorf("compare with what was applied: %w", err)
	}
	if different.Empty() {
		return true, nil
	}
	owned, err := d.owned(live)
	if err != nil {
		return false, fmt.Errorf("read managed fields: %w", err)
	}
	return different.Difference(owned).Empty(), nil
}

// difference are the fields that the live object lacks or has other values of.
func (d *Detector) difference(wanted *unstructured.Unstructured, live client.Object) (*fieldpath.Set, error) {
	present, err := toUnstructured(live)
	if err != nil {
		return nil, err
	}
	present.SetManagedFields(nil)
	// A typed object from the cache does not say what it is.
	present.SetGroupVersionKind(wanted.GroupVersionKind())

	types := d.deduced
	if d.scheme.Recognizes(wanted.GroupVersionKind()) {
		types = d.known
	}
	left, err := types.ObjectToTyped(wanted)
	if err != nil {
		return nil, err
	}
	right, err := types.ObjectToTyped(present, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	comparison, err := left.Compare(right)
	if err != nil {
		return nil, err
	}
	return comparison.Removed.Union(comparison.Modified).Leaves(), nil
}

// owned are the fields that the field manager owns of an object.
func (d *Detector) owned(live client.Object) (*fieldpath.Set, error) {
	owned := &fieldpath.Set{}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != d.manager || !applied(&entry) {
			continue
		}
		if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, err
		}
	}
	return owned, nil
}

// applied says whether an entry is about what was applied.
func applied(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.FieldsV1 != nil
}
