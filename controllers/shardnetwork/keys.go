// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// parallel is how many requests to the API server are under way at a time.
const parallel = 8

// errSecretMissing is a Secret that is not there and must not be made.
var errSecretMissing = errors.New("the Secret is missing")

// ensureKeys makes the admin token and every validator's key. A key that was
// there once is never made again: the genesis document names it.
func (r *run) ensureKeys(ctx context.Context) error {
	token, err := r.ensureSecret(ctx, resources.AdminTokenName(r.network.Name), true, func() (*corev1.Secret, error) {
		return resources.NewAdminToken(r.network, keys.NewAdminToken()), nil
	})
	if err != nil {
		return fmt.Errorf("admin token: %w", err)
	}
	r.adminToken = resources.AdminToken(token)

	genesis, err := r.readGenesis(ctx)
	if err != nil {
		return err
	}
	if r.began, err = r.hasValidators(ctx); err != nil {
		return err
	}
	public := make([]ed25519.PublicKey, len(r.plan.Validators))
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, validator := range r.plan.Validators {
		group.Go(func() (err error) {
			public[i], err = r.ensureKey(groupContext, validator, genesis == nil && !r.began)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return r.keyTrouble(err)
	}

	r.publicKeys = make(map[string]ed25519.PublicKey, len(public))
	for i, validator := range r.plan.Validators {
		r.publicKeys[validator.Name] = public[i]
	}
	return nil
}

// hasValidators says whether validators were made from a genesis document: from
// then on neither it nor a key can be another.
func (r *run) hasValidators(ctx context.Context) (bool, error) {
	sets := &appsv1.StatefulSetList{}
	if err := r.client.List(ctx, sets, client.InNamespace(r.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: r.network.Name}, client.Limit(1)); err != nil {
		return false, fmt.Errorf("list validators: %w", err)
	}
	return len(sets.Items) > 0, nil
}

// keyTrouble tells what a person must mend from what may pass.
func (r *run) keyTrouble(err error) error {
	unusable, ok := errors.AsType[*unusableKeyError](err)
	switch {
	case !ok:
		r.note(policy.GenesisPending())
		return err
	case errors.Is(unusable.cause, errSecretMissing):
		r.note(policy.KeyMissing(unusable.secret))
	default:
		r.note(policy.KeyInvalid(unusable.secret, unusable.cause))
	}
	return errBlocked
}

func (r *run) ensureKey(ctx context.Context, validator topology.Validator, mayCreate bool) (ed25519.PublicKey, error) {
	name := resources.KeyName(validator.Name)
	secret, err := r.ensureSecret(ctx, name, mayCreate, func() (*corev1.Secret, error) {
		key, err := keys.Generate()
		if err != nil {
			return nil, err
		}
		return resources.NewKey(r.network, validator, key.File()), nil
	})
	if errors.Is(err, errSecretMissing) {
		return nil, &unusableKeyError{secret: name, cause: err}
	}
	if err != nil {
		return nil, fmt.Errorf("key of validator %s: %w", validator.Name, err)
	}
	key, err := keys.Parse(resources.KeyFile(secret))
	if err != nil {
		return nil, &unusableKeyError{secret: name, cause: err}
	}
	return key.Public(), nil
}

// unusableKeyError is a key that the genesis document names, and that its
// Secret does not hold.
type unusableKeyError struct {
	secret string
	cause  error
}

func (e *unusableKeyError) Error() string {
	return fmt.Sprintf("key in Secret %s: %v", e.secret, e.cause)
}

func (e *unusableKeyError) Unwrap() error { return e.cause }

// ensureSecret reads a Secret, and creates it when there is none. What another
// run of the operator created is taken over, never replaced.
func (r *run) ensureSecret(
	ctx context.Context,
	name string,
	mayCreate bool,
	create func() (*corev1.Secret, error),
) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	found, err := r.find(ctx, name, secret)
	if err != nil {
		return nil, err
	}
	if found {
		return secret, r.ensureOwnership(ctx, secret)
	}
	if !mayCreate {
		return nil, errSecretMissing
	}

	secret, err = create()
	if err != nil {
		return nil, err
	}
	if err := r.client.Create(ctx, secret, client.FieldOwner(FieldManager)); err != nil {
		return nil, err
	}
	return secret, nil
}

// find reads an object by name: from the cache, and when it is not there, from
// the API server, because the cache may be old. What has the name and not the
// network's labels belongs to somebody else.
func (r *run) find(ctx context.Context, name string, object client.Object) (bool, error) {
	key := types.NamespacedName{Namespace: r.network.Namespace, Name: name}
	err := r.client.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		err = r.reader.Get(ctx, key, object)
	}
	switch labels := object.GetLabels(); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case labels[resources.LabelManagedBy] != resources.ManagedBy, labels[resources.LabelNetwork] != r.network.Name:
		return false, &nameTakenError{kind: r.kindOf(object), name: name}
	}
	return true, nil
}

func (r *run) kindOf(object client.Object) string {
	kind, err := r.client.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return kind.Kind
}

// ensureOwnership lets the cluster delete an object with the network, or keep
// it, as the spec now says.
func (r *run) ensureOwnership(ctx context.Context, object client.Object) error {
	// What an earlier network of this name still owns is about to go with it.
	if owner := metav1.GetControllerOf(object); owner != nil && owner.UID != r.network.UID {
		return &nameTakenError{kind: r.kindOf(object), name: object.GetName()}
	}
	wanted := !resources.Retained(r.network)
	if wanted == metav1.IsControlledBy(object, r.network) {
		return nil
	}
	before := object.DeepCopyObject().(client.Object)
	object.SetOwnerReferences(nil)
	if wanted {
		object.SetOwnerReferences([]metav1.OwnerReference{resources.OwnerReference(r.network)})
	}
	return r.client.Patch(ctx, object, client.MergeFrom(before), client.FieldOwner(FieldManager))
}
