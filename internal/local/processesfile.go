// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// processesFile is runtime.json: which processes run the network, and where
// they listen. It is there while the network runs.
type processesFile struct {
	path    string
	network string
	page    string

	mu sync.Mutex
}

func newProcessesFile(network *network) *processesFile {
	return &processesFile{path: network.Dir.Runtime(), network: network.Manifest.Name, page: network.page.url()}
}

func (f *processesFile) write(supervisors []*supervisor) error {
	// The order of writers is the order of what they write.
	f.mu.Lock()
	defer f.mu.Unlock()
	current := statedir.Processes{Network: f.network, PID: os.Getpid(), Page: f.page}
	for _, supervisor := range supervisors {
		state := supervisor.current()
		current.Validators = append(current.Validators, statedir.Process{
			Name:  supervisor.name(),
			PID:   state.pid,
			HTTP:  supervisor.node.HTTP.Address(),
			Admin: supervisor.node.Admin.Address(),
			P2P:   supervisor.node.P2P.Address(),
		})
	}
	content, err := json.MarshalIndent(current, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.path, err)
	}
	return wholefile.Write(f.path, append(content, '\n'), statedir.FileMode)
}

func (f *processesFile) remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
