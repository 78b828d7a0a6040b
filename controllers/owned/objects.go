// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/resources"
)

// NameTakenError is an object that the owner needs and somebody else has.
type NameTakenError struct {
	Kind, Name string
}

// Error says which one.
func (e *NameTakenError) Error() string {
	return fmt.Sprintf("the %s %s belongs to somebody else", e.Kind, e.Name)
}

// Objects are those that an owner controls, in its namespace.
type Objects struct {
	Client client.Client
	// Reader does not read from the cache.
	Reader client.Reader
	// FieldManager owns the fields that are applied.
	FieldManager string
	Owner        client.Object
}

// Find reads one of them; false when there is none. One of somebody else is a
// NameTakenError, and has been read.
func (o *Objects) Find(ctx context.Context, object client.Object, kind, name string) (bool, error) {
	err := o.Reader.Get(ctx, client.ObjectKey{Namespace: o.Owner.GetNamespace(), Name: name}, object)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", kind, name, err)
	}
	if !metav1.IsControlledBy(object, o.Owner) {
		return false, &NameTakenError{Kind: kind, Name: name}
	}
	return true, nil
}

// Apply applies one, unless there is one of its name that is somebody else's.
func (o *Objects) Apply(ctx context.Context, object resources.Object) error {
	kind, name := object.GetObjectKind().GroupVersionKind().Kind, object.GetName()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	if _, err := o.Find(ctx, live, kind, name); err != nil {
		return err
	}
	wanted, err := drift.Prepare(object)
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, name, err)
	}
	if err := o.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(o.FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %s: %w", kind, name, err)
	}
	return nil
}

// Delete deletes this very object, and says whether there was that to do: not if it is being
// deleted already.
func (o *Objects) Delete(ctx context.Context, object client.Object, propagation metav1.DeletionPropagation) (bool, error) {
	if object.GetDeletionTimestamp() != nil {
		return false, nil
	}
	uid := object.GetUID()
	err := o.Client.Delete(ctx, object, client.PropagationPolicy(propagation), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("delete %s: %w", object.GetName(), err)
	}
	return true, nil
}
