// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
)

// ensureGenesis makes the genesis document once all keys exist. One that
// exists is checked against the spec and the keys, and never changed.
func (r *run) ensureGenesis(ctx context.Context) error {
	document, err := r.readGenesis(ctx)
	if err != nil {
		return err
	}
	if document == nil {
		return r.createGenesis(ctx)
	}
	if err := r.ensureOwnership(ctx, document); err != nil {
		return err
	}

	mismatch, err := r.genesisMismatch(document)
	if err != nil {
		return err
	}
	if mismatch != "" {
		r.set(v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisMismatch, fmt.Sprintf(
			"the ConfigMap %s is not of this network: %s. It was kept for an earlier network of this name: "+
				"delete it with that network's key Secrets and volume claims, or choose another name",
			document.Name, mismatch))
		return errBlocked
	}
	r.set(v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated,
		fmt.Sprintf("the genesis document and the keys of %d validators exist", len(r.plan.Validators)))
	return nil
}

// readGenesis is the ConfigMap of the genesis document; nil when there is none.
func (r *run) readGenesis(ctx context.Context) (*corev1.ConfigMap, error) {
	document := &corev1.ConfigMap{}
	found, err := r.find(ctx, resources.GenesisName(r.network.Name), document)
	if err != nil {
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	if !found {
		return nil, nil
	}
	return document, nil
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
	if err := r.client.Create(ctx, document, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("create genesis document: %w", err)
	}
	r.set(v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated,
		fmt.Sprintf("the genesis document and the keys of %d validators exist", len(r.plan.Validators)))
	return nil
}

// genesisMismatch says how a genesis document differs from what this network's
// would be; empty when it does not.
func (r *run) genesisMismatch(document *corev1.ConfigMap) (string, error) {
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal([]byte(resources.GenesisFile(document)), &genesis); err != nil {
		return "it cannot be read: " + err.Error(), nil
	}
	wanted, err := nodeconfig.NewGenesis(r.network, r.plan, r.publicKeys, time.UnixMilli(genesis.CreatedAtMs))
	if err != nil {
		return "", fmt.Errorf("make genesis document: %w", err)
	}
	switch {
	case genesis.Network != wanted.Network:
		return "it is of network " + genesis.Network, nil
	case genesis.Seed != wanted.Seed:
		return "spec.genesis.seed is another", nil
	case genesis.Accounts != wanted.Accounts:
		return "spec.genesis has other accounts or balances", nil
	case genesis.Protocol != wanted.Protocol:
		return "spec.protocol is another", nil
	case genesis.Shards != wanted.Shards, len(genesis.Validators) != len(wanted.Validators):
		return "spec.shards or spec.producersPerShard is another", nil
	}
	for i := range wanted.Validators {
		if genesis.Validators[i] != wanted.Validators[i] {
			return fmt.Sprintf("it names another key for %s than the Secret %s holds",
				wanted.Validators[i].Name, resources.KeyName(wanted.Validators[i].Name)), nil
		}
	}
	return "", nil
}
