// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/internal/topology"
)

// errSpansClusters is about networks of which one cluster has only a part.
var errSpansClusters = errors.New("the network has regions in other clusters (spec.regions[].cluster), " +
	"and only networks of one cluster can be kept and restored")

// checkStopped refuses a network of which a node runs or may run, by what its operator
// says and by the pods that it has.
func checkStopped(network *v1alpha1.ShardNetwork, pods int) error {
	for i := range network.Spec.Regions {
		if network.Spec.Regions[i].Cluster != "" {
			return errSpansClusters
		}
	}
	within := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionWithinLifetime)
	switch lifetime := network.Spec.Lifetime; {
	case network.DeletionTimestamp != nil:
		return fmt.Errorf("network %s is being deleted", network.Name)
	case lifetime == nil || lifetime.Action != v1alpha1.LifetimeStop:
		return fmt.Errorf("network %s runs, and its files change: stop it first, by spec.lifetime with the action Stop "+
			"and durationSeconds that are over, and wait for its condition WithinLifetime to have the reason Stopped", network.Name)
	case within == nil || within.ObservedGeneration != network.Generation:
		return fmt.Errorf("the operator has not seen yet what network %s is to be: wait for its condition WithinLifetime "+
			"to have the reason Stopped", network.Name)
	case within.Reason != v1alpha1.ReasonStopped:
		return fmt.Errorf("network %s is not stopped: wait for its condition WithinLifetime to have the reason Stopped; it is %s: %s",
			network.Name, within.Reason, within.Message)
	case pods > 0:
		return fmt.Errorf("network %s is not stopped: it has %d pods", network.Name, pods)
	default:
		return nil
	}
}

// manifestOf is the manifest that makes the network again, with the image that its nodes
// were made of: another may not read their data.
func manifestOf(network *v1alpha1.ShardNetwork) ([]byte, error) {
	again := &v1alpha1.ShardNetwork{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindShardNetwork},
		ObjectMeta: metav1.ObjectMeta{Namespace: network.Namespace, Name: network.Name},
		Spec:       *network.Spec.DeepCopy(),
	}
	again.Spec.Node.Image = cmp.Or(network.Status.NodeImage, again.Spec.Node.Image)
	return Encode(again)
}

// Encode writes a network as a manifest.
func Encode(network *v1alpha1.ShardNetwork) ([]byte, error) {
	content, err := json.Marshal(network)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	// Only the API server and the operator know these.
	delete(fields, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	return yaml.Marshal(fields)
}

// chosen are the nodes of some names, each once; all without one.
func chosen(plan *topology.Plan, names []string) ([]topology.Validator, error) {
	if len(names) == 0 {
		return plan.Nodes, nil
	}
	var nodes []topology.Validator
	for _, name := range names {
		i := slices.IndexFunc(plan.Nodes, func(node topology.Validator) bool { return node.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("network %s has no node %s", plan.Network, name)
		}
		if isNamed := func(node topology.Validator) bool { return node.Name == name }; !slices.ContainsFunc(nodes, isNamed) {
			nodes = append(nodes, plan.Nodes[i])
		}
	}
	return nodes, nil
}

// restored is a network as a backup brings it back.
type restored struct {
	network *v1alpha1.ShardNetwork
	plan    *topology.Plan
	// nodes are those whose data is put back.
	nodes   []topology.Validator
	genesis []byte
	// keys are the key files of all nodes, by name.
	keys map[string][]byte
	// token is that of the admin API; empty when nodes had several.
	token string
}

// planRestore says what is to be made of a backup in a namespace. The manifest is that of
// the backup unless another is given.
func planRestore(from *contents, given []byte, namespace string, names []string) (*restored, error) {
	if given == nil {
		given = from.Files[backup.NetworkFile]
	}
	network, err := manifest.Parse(given)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	network.Namespace = namespace
	r := &restored{network: network, genesis: from.Files[backup.GenesisFile], keys: map[string][]byte{}}
	if r.plan, err = topology.New(network); err != nil {
		return nil, err
	}
	switch {
	case len(r.plan.Members()) > 0:
		return nil, errSpansClusters
	case network.Spec.Volume == nil:
		return nil, errors.New("the manifest has no spec.volume, and so the network no disks that data could be put onto: " +
			"give one that has, with --manifest")
	}
	if err := r.readSecrets(from); err != nil {
		return nil, err
	}
	if err := r.checkGenesis(&from.Of); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		for _, node := range from.Of.Nodes {
			names = append(names, node.Name)
		}
	}
	for _, name := range names {
		if from.Of.Node(name) == nil {
			return nil, fmt.Errorf("the backup has no data of a node %s", name)
		}
	}
	r.nodes, err = chosen(r.plan, names)
	return r, err
}

// readSecrets takes the secrets of all nodes from a backup.
func (r *restored) readSecrets(from *contents) error {
	tokens := map[string]bool{}
	for _, node := range r.plan.Nodes {
		key, ok := from.Files[backup.KeyFile(node.Name)]
		if !ok {
			return fmt.Errorf("the backup has no key of %s, which the manifest has", node.Name)
		}
		r.keys[node.Name] = key
		r.token = string(bytes.TrimSpace(from.Files[backup.TokenFile(node.Name)]))
		tokens[r.token] = true
	}
	if len(tokens) > 1 {
		// Nodes of one machine have one each. The operator makes a new one.
		r.token = ""
	}
	return nil
}

// checkGenesis refuses a network that is not the one of the genesis document.
func (r *restored) checkGenesis(of *backup.Manifest) error {
	verifier, err := proof.New(r.genesis)
	if err != nil {
		return err
	}
	if hash := verifier.GenesisHash(); hash != of.GenesisHash || r.plan.Network != of.Network {
		return fmt.Errorf("the manifest and the genesis document are of network %s with genesis hash %s, and the backup is of %s with %s",
			r.plan.Network, hash, of.Network, of.GenesisHash)
	}
	public := map[string]ed25519.PublicKey{}
	for name, content := range r.keys {
		key, err := keys.Parse(content)
		if err != nil {
			return fmt.Errorf("read the key of %s: %w", name, err)
		}
		public[name] = key.Public()
	}
	var stored nodeconfig.Genesis
	if err := json.Unmarshal(r.genesis, &stored); err != nil {
		return fmt.Errorf("read the genesis document: %w", err)
	}
	wanted, err := nodeconfig.NewGenesis(r.network, r.plan, public, time.UnixMilli(stored.CreatedAtMs))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(&stored, wanted) {
		return errors.New("the genesis document of the backup is not the one of the manifest and the keys")
	}
	return nil
}
