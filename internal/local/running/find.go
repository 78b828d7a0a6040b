// SPDX-License-Identifier: Apache-2.0

package running

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// Network is a network that runs on this machine.
type Network struct {
	// Name is its name.
	Name string
	// Nodes are the addresses of the HTTP APIs of the validators that run.
	Nodes []string
	// Seed is what the genesis document derives its accounts from.
	Seed string
	// Genesis is the genesis document.
	Genesis []byte
}

// Find finds a network that runs on this machine, by its name or, without
// one, as the only one that does.
func Find(stateDir, network string) (*Network, error) {
	if network == "" {
		names, err := statedir.Names(stateDir)
		if err != nil {
			return nil, err
		}
		running := []string{}
		for _, name := range names {
			if _, err := statedir.NetworkDir(filepath.Join(stateDir, name)).Processes(); !errors.Is(err, statedir.ErrNotRunning) {
				running = append(running, name)
			}
		}
		switch len(running) {
		case 0:
			return nil, fmt.Errorf("no network of %s runs", stateDir)
		case 1:
			network = running[0]
		default:
			return nil, fmt.Errorf("several networks of %s run, name one: %s", stateDir, strings.Join(running, ", "))
		}
	}
	return readRunning(statedir.NetworkDir(filepath.Join(stateDir, network)))
}

// readRunning reads what a network that runs says of itself.
func readRunning(d statedir.NetworkDir) (*Network, error) {
	current, err := d.Processes()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(d.Genesis())
	if err != nil {
		return nil, err
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal(content, &genesis); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Genesis(), err)
	}
	running := &Network{Name: current.Network, Seed: genesis.Seed, Genesis: content}
	for _, validator := range current.Validators {
		if validator.PID != 0 {
			running.Nodes = append(running.Nodes, validator.HTTP)
		}
	}
	if len(running.Nodes) == 0 {
		return nil, fmt.Errorf("no validator of %s runs", current.Network)
	}
	return running, nil
}
