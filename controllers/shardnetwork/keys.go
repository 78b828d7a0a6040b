// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// parallel is how many requests to an API server are under way at a time.
	parallel = 8
	// requestTimeout bounds how long an API server keeps the work on one object
	// waiting.
	requestTimeout = 10 * time.Second
)

// errSecretMissing is a Secret that is not there and must not be made.
var errSecretMissing = errors.New("the Secret is missing")

// ensureKeys makes each cluster's admin token and, in the cluster that holds it,
// every validator's key. A key that was there once is never made again: the
// genesis document names it.
func (r *run) ensureKeys(ctx context.Context) error {
	genesis, err := r.home().readGenesis(ctx)
	if err != nil {
		return err
	}
	if genesis == nil && len(r.lostSites()) > 0 {
		return r.awaitClusters()
	}
	if err := r.findValidators(ctx); err != nil {
		return err
	}
	mayCreate := genesis == nil && !r.began
	err = r.onSites(ctx, func(ctx context.Context, s *site) error {
		if len(s.validators) == 0 {
			return nil
		}
		token, err := s.ensureSecret(ctx, resources.AdminTokenName(r.network.Name), true, func() (*corev1.Secret, error) {
			return resources.NewAdminToken(r.network, keys.NewAdminToken()), nil
		})
		if err != nil {
			return fmt.Errorf("admin token: %w", err)
		}
		s.adminToken = resources.AdminToken(token)
		return s.ensureKeys(ctx, mayCreate)
	})
	if err != nil {
		return r.keyTrouble(err)
	}
	return r.collectKeys(genesis)
}

// collectKeys puts the public keys of all validators together. Those in clusters
// that cannot be used now are taken from the genesis document.
func (r *run) collectKeys(genesis *corev1.ConfigMap) error {
	r.publicKeys = map[string]ed25519.PublicKey{}
	if genesis != nil && len(r.lostSites()) > 0 {
		named, err := nodeconfig.PublicKeys([]byte(resources.GenesisFile(genesis)))
		if err != nil {
			r.note(policy.GenesisMismatch(genesis.Name, "it cannot be read: "+err.Error()))
			return errBlocked
		}
		maps.Copy(r.publicKeys, named)
	}
	for _, s := range r.sites {
		maps.Copy(r.publicKeys, s.publicKeys)
	}
	if genesis == nil && len(r.lostSites()) > 0 {
		// One of them gave up answering while keys were made.
		return r.awaitClusters()
	}
	return nil
}

// awaitClusters holds a network back that has no genesis document yet: it names
// the keys of all validators, wherever they are.
func (r *run) awaitClusters() error {
	r.awaitsClusters = true
	r.note(policy.GenesisWaits(r.lostSites()))
	return errBlocked
}

// findValidators says whether validators were made from a genesis document: from
// then on neither it nor a key can be another. Those of an earlier network of this name
// are waited for, which go with it.
func (r *run) findValidators(ctx context.Context) error {
	var began atomic.Bool
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		sets := &appsv1.StatefulSetList{}
		if err := s.client.List(ctx, sets, client.InNamespace(r.network.Namespace),
			client.MatchingLabels{resources.LabelNetwork: r.network.Name}); err != nil {
			return fmt.Errorf("list validators: %w", err)
		}
		for i := range sets.Items {
			switch set := &sets.Items[i]; {
			case s.owns(set), s.disowned(set):
				began.Store(true)
			case s.leaves(set):
				return s.taken(set, "StatefulSet")
			}
		}
		return nil
	})
	r.began = began.Load()
	return err
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

// ensureKeys makes the keys of the validators that the cluster holds.
func (s *site) ensureKeys(ctx context.Context, mayCreate bool) error {
	public := make([]ed25519.PublicKey, len(s.validators))
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, validator := range s.validators {
		group.Go(func() (err error) {
			public[i], err = s.ensureKey(groupContext, validator, mayCreate)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.publicKeys = make(map[string]ed25519.PublicKey, len(public))
	for i, validator := range s.validators {
		s.publicKeys[validator.Name] = public[i]
	}
	return nil
}

func (s *site) ensureKey(ctx context.Context, validator topology.Validator, mayCreate bool) (ed25519.PublicKey, error) {
	name := resources.KeyName(validator.Name)
	secret, err := s.ensureSecret(ctx, name, mayCreate, func() (*corev1.Secret, error) {
		key, err := keys.Generate()
		if err != nil {
			return nil, err
		}
		return resources.NewKey(s.network, validator, key.File()), nil
	})
	if errors.Is(err, errSecretMissing) {
		return nil, &unusableKeyError{secret: s.of(name), cause: err}
	}
	if err != nil {
		return nil, fmt.Errorf("key of validator %s: %w", validator.Name, err)
	}
	key, err := keys.Parse(resources.KeyFile(secret))
	if err != nil {
		return nil, &unusableKeyError{secret: s.of(name), cause: err}
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
func (s *site) ensureSecret(
	ctx context.Context,
	name string,
	mayCreate bool,
	create func() (*corev1.Secret, error),
) (*corev1.Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret := &corev1.Secret{}
	found, err := s.find(ctx, name, secret)
	if err != nil {
		return nil, err
	}
	if found {
		return secret, s.ensureOwnership(ctx, secret)
	}
	if !mayCreate {
		return nil, errSecretMissing
	}

	secret, err = create()
	if err != nil {
		return nil, err
	}
	if err := s.create(ctx, secret); err != nil {
		return nil, err
	}
	return secret, nil
}
