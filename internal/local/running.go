// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// Running is a network that runs on this machine.
type Running struct {
	// Network is its name.
	Network string
	// Nodes are the addresses of the HTTP APIs of the validators that run.
	Nodes []string
	// Seed is what the genesis document derives its accounts from.
	Seed string
	// Genesis is the genesis document.
	Genesis []byte
}

// FindRunning finds a network that runs on this machine, by its name or, without
// one, as the only one that does.
func FindRunning(stateDir, network string) (*Running, error) {
	if network == "" {
		names, err := Names(stateDir)
		if err != nil {
			return nil, err
		}
		running := []string{}
		for _, name := range names {
			if _, err := networkDir(filepath.Join(stateDir, name)).processes(); !errors.Is(err, errNotRunning) {
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
	return networkDir(filepath.Join(stateDir, network)).running()
}

// Names are the networks that are kept in a folder.
func Names(stateDir string) ([]string, error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if there, err := networkDir(filepath.Join(stateDir, entry.Name())).exists(); err != nil {
			return nil, err
		} else if there {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// running reads what a network that runs says of itself.
func (d networkDir) running() (*Running, error) {
	current, err := d.processes()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(d.genesis())
	if err != nil {
		return nil, err
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal(content, &genesis); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.genesis(), err)
	}
	running := &Running{Network: current.Network, Seed: genesis.Seed, Genesis: content}
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
