// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// StatusOf is the status of an object of a kind of this API.
type StatusOf struct {
	Kind, Namespace, Name string
	// ResourceVersion is that of the object as it was read. The API server then
	// refuses the status if somebody wrote the object since: what that one noted would
	// be lost. Empty overwrites whatever is there.
	ResourceVersion string
}

// WriteStatus writes a status as it stands: a field that its manager wrote before and
// that is not in it any more goes. It returns the resource version that came of it.
func WriteStatus[Status any](ctx context.Context, to client.Client, manager string, of StatusOf, status *Status) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return "", fmt.Errorf("encode status: %w", err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(of.Kind))
	object.SetNamespace(of.Namespace)
	object.SetName(of.Name)
	object.SetResourceVersion(of.ResourceVersion)
	if err := to.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(manager), client.ForceOwnership); err != nil {
		return "", fmt.Errorf("write status: %w", err)
	}
	return object.GetResourceVersion(), nil
}
