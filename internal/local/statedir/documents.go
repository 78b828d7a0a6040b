// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// EncodeManifest writes a network as a manifest, defaults included.
func EncodeManifest(network *v1alpha1.ShardNetwork) ([]byte, error) {
	content, err := yaml.Marshal(network)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return content, nil
}

// readGenesis reads the genesis document and checks that it is the one of the
// manifest and the keys. Otherwise the nodes would run another chain than the
// manifest says, or none.
func (n *Network) readGenesis() error {
	content, err := os.ReadFile(n.Dir.Genesis())
	if err != nil {
		return err
	}
	var stored nodeconfig.Genesis
	if err := json.Unmarshal(content, &stored); err != nil {
		return fmt.Errorf("read %s: %w", n.Dir.Genesis(), err)
	}
	want, err := n.newGenesis(time.UnixMilli(stored.CreatedAtMs))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(&stored, want) {
		return errors.New("genesis.json is not the one of the manifest and the keys beside it")
	}
	n.Genesis = &stored
	return nil
}
