// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// KeepOwn has a cache keep of the managed fields only those that some field
// managers applied: who owns the rest takes more memory than many an object.
func KeepOwn(managers ...string) toolscache.TransformFunc {
	return func(object any) (any, error) {
		// What is told of an object that is long gone is no object.
		if object, err := meta.Accessor(object); err == nil {
			keepOwn(object, managers)
		}
		return object, nil
	}
}

func keepOwn(object metav1.Object, managers []string) {
	all := object.GetManagedFields()
	var kept []metav1.ManagedFieldsEntry
	for i := range all {
		if applied(&all[i]) && slices.Contains(managers, all[i].Manager) {
			kept = append(kept, all[i])
		}
	}
	// An object that is in the cache already is read by others.
	if len(kept) != len(all) {
		object.SetManagedFields(kept)
	}
}
