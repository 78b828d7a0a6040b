// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotationApplied is a hash of what was applied. It tells when something is
// no longer set, which a look at the object's fields does not.
const annotationApplied = "shardyard.dev/applied"

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
	annotations[annotationApplied] = hex.EncodeToString(sum[:8])
	object.SetAnnotations(annotations)
	return nil
}

// upToDate says whether an object has everything that is wanted. What others
// add, such as defaults, does not matter.
func upToDate(wanted *unstructured.Unstructured, live map[string]any) bool {
	content := map[string]any{}
	for field, value := range wanted.Object {
		// A typed object from the cache does not say what it is.
		if field != "apiVersion" && field != "kind" {
			content[field] = value
		}
	}
	return covers(content, live)
}

// covers says whether live has all that is wanted.
func covers(wanted, live any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		if !ok {
			return len(wanted) == 0 && live == nil
		}
		for field, value := range wanted {
			if !covers(value, fields[field]) {
				return false
			}
		}
		return true
	case []any:
		items, ok := live.([]any)
		if !ok || len(items) != len(wanted) {
			return len(wanted) == 0 && live == nil
		}
		for i := range wanted {
			if !covers(wanted[i], items[i]) {
				return false
			}
		}
		return true
	default:
		return equality.Semantic.DeepEqual(wanted, live)
	}
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
