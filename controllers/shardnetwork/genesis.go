// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// ensureGenesis makes the genesis document once all keys exist. One that
// exists is checked against the spec and the keys, and never changed.
func (r *run) ensureGenesis(ctx context.Context) error {
	document, err := r.home().readGenesis(ctx)
	if err != nil {
		return err
	}
	if document == nil && r.began {
		r.note(policy.GenesisMissing(resources.GenesisName(r.network.Name)))
		return errBlocked
	}
	if document == nil {
		return r.createGenesis(ctx)
	}
	// Keys that were retained are there before the disks are full.
	if document.Annotations[resources.AnnotationRestore] != "" && !r.began {
		r.note(policy.GenesisRestored(document.Name))
		return errBlocked
	}
	if err := r.home().ensureOwnership(ctx, document); err != nil {
		return err
	}

	var genesis nodeconfig.Genesis
	if err := json.Unmarshal([]byte(resources.GenesisFile(document)), &genesis); err != nil {
		r.note(policy.GenesisMismatch(document.Name, "it cannot be read: "+err.Error()))
		return errBlocked
	}
	wanted, err := nodeconfig.NewGenesis(r.network, r.plan, r.publicKeys, time.UnixMilli(genesis.CreatedAtMs))
	if err != nil {
		return fmt.Errorf("make genesis document: %w", err)
	}
	if difference := genesisDifference(&genesis, wanted); difference != "" {
		r.note(policy.GenesisMismatch(document.Name, difference))
		return errBlocked
	}
	return r.shareGenesis(ctx, document)
}

func (r *run) createGenesis(ctx context.Context) error {
	genesis, err := nodeconfig.NewGenesis(r.network, r.plan, r.publicKeys, r.now())
	if err != nil {
		return fmt.Errorf("make genesis document: %w", err)
	}
	document, err := resources.NewGenesis(r.network, genesis)
	if err != nil {
		return err
	}
	// Whoever came first made the only one: this run ends, and the next reads it.
	if err := r.home().create(ctx, document); err != nil {
		return fmt.Errorf("create genesis document: %w", err)
	}
	return r.shareGenesis(ctx, document)
}

// shareGenesis gives every member the document of the operator's own cluster,
// byte for byte.
func (r *run) shareGenesis(ctx context.Context, document *corev1.ConfigMap) error {
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		if s.home() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		shared, err := s.readGenesis(ctx)
		if err != nil {
			return err
		}
		if shared == nil {
			if err := s.create(ctx, resources.CopyGenesis(r.network, document)); err != nil {
				return fmt.Errorf("create genesis document: %w", err)
			}
			return nil
		}
		if resources.GenesisFile(shared) != resources.GenesisFile(document) {
			r.note(policy.GenesisMismatch(s.of(shared.Name), "it is another than the one in the operator's own cluster"))
			return errBlocked
		}
		return s.ensureOwnership(ctx, shared)
	})
	if err != nil {
		return err
	}
	r.note(policy.GenesisCreated(r.plan.Validators()))
	return nil
}

// genesisDifference says how a genesis document differs from the wanted one;
// empty when it does not.
func genesisDifference(genesis, wanted *nodeconfig.Genesis) string {
	switch {
	case genesis.Network != wanted.Network:
		return "it is of network " + genesis.Network
	case genesis.Seed != wanted.Seed:
		return "spec.genesis.seed is another"
	case genesis.Accounts != wanted.Accounts:
		return "spec.genesis has other accounts or balances"
	case genesis.Protocol != wanted.Protocol:
		return "spec.protocol is another"
	case genesis.Shards != wanted.Shards, !slices.EqualFunc(genesis.Validators, wanted.Validators, samePlace):
		return "spec.shards, spec.producersPerShard or spec.chunkValidators is another"
	}
	for i := range wanted.Validators {
		if genesis.Validators[i].PublicKey != wanted.Validators[i].PublicKey {
			name := wanted.Validators[i].Name
			return fmt.Sprintf("it names another key for %s than the Secret %s holds", name, resources.KeyName(name))
		}
	}
	return ""
}

// samePlace says whether two validators are the same in all but their keys.
func samePlace(a, b nodeconfig.GenesisValidator) bool {
	a.PublicKey = b.PublicKey
	return reflect.DeepEqual(a, b)
}
