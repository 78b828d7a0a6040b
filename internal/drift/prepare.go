// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// AnnotationApplied is a hash of what was applied. It tells when something is
// no longer set, which a look at the object's fields does not.
const AnnotationApplied = "shardyard.dev/applied"

// Prepare makes the form of an object that is applied: only what it sets, and a
// hash of that among its annotations.
func Prepare(object runtime.Object) (*unstructured.Unstructured, error) {
	wanted, err := toUnstructured(object)
	if err != nil {
		return nil, err
	}
	prune(wanted.Object)
	if err := sign(wanted); err != nil {
		return nil, err
	}
	return wanted, nil
}

// toUnstructured copies an object without its status.
func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	if _, ok := object.(runtime.Unstructured); ok {
		// The converter would not copy it.
		object = object.DeepCopyObject()
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	return &unstructured.Unstructured{Object: content}, nil
}

// sign puts the hash of an object's content into its annotations.
func sign(object *unstructured.Unstructured) error {
	content, err := json.Marshal(object.Object)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	sum := sha256.Sum256(content)
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationApplied] = hex.EncodeToString(sum[:8])
	object.SetAnnotations(annotations)
	return nil
}

// prune removes what a typed object says of nothing: null, and the status of a
// volume claim's template.
func prune(content map[string]any) {
	for field, value := range content {
		switch value := value.(type) {
		case nil:
			delete(content, field)
		case map[string]any:
			prune(value)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					prune(item)
					delete(item, "status")
				}
			}
		}
	}
}
