// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// ProcessesFile is runtime.json: which processes run the network, and where
// they listen. It is there while the network runs.
type ProcessesFile struct {
	path    string
	network string
	page    string

	mu sync.Mutex
}

// NewProcessesFile is the file of a network that is kept in a folder, and of the page that
// shows it, empty if there is none.
func NewProcessesFile(dir statedir.NetworkDir, network, page string) *ProcessesFile {
	return &ProcessesFile{path: dir.Runtime(), network: network, page: page}
}

func (f *ProcessesFile) write(supervisors []*Supervisor) error {
	// The order of writers is the order of what they write.
	f.mu.Lock()
	defer f.mu.Unlock()
	current := statedir.Processes{Network: f.network, PID: os.Getpid(), Page: f.page}
	for _, supervisor := range supervisors {
		state := supervisor.Current()
		current.Validators = append(current.Validators, statedir.Process{
			Name:  supervisor.Name(),
			PID:   state.PID,
			HTTP:  supervisor.Node.HTTP.Address(),
			Admin: supervisor.Node.Admin.Address(),
			P2P:   supervisor.Node.P2P.Address(),
		})
	}
	content, err := json.MarshalIndent(current, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.path, err)
	}
	return wholefile.Write(f.path, append(content, '\n'), statedir.FileMode)
}

func (f *ProcessesFile) remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
