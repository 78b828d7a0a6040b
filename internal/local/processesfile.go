// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

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

// processes is the content of the file.
type processes struct {
	Network string `json:"network"`
	// PID is the process that runs the others.
	PID int `json:"pid"`
	// Page is where what happens can be seen.
	Page       string             `json:"page,omitempty"`
	Validators []validatorProcess `json:"validators"`
}

type validatorProcess struct {
	Name string `json:"name"`
	// PID is 0 while the validator does not run.
	PID   int    `json:"pid"`
	HTTP  string `json:"http"`
	Admin string `json:"admin"`
	P2P   string `json:"p2p"`
}

func newProcessesFile(network *network) *processesFile {
	return &processesFile{path: network.dir.runtime(), network: network.manifest.Name, page: network.page.url()}
}

func (f *processesFile) write(supervisors []*supervisor) error {
	// The order of writers is the order of what they write.
	f.mu.Lock()
	defer f.mu.Unlock()
	current := processes{Network: f.network, PID: os.Getpid(), Page: f.page}
	for _, supervisor := range supervisors {
		state := supervisor.current()
		current.Validators = append(current.Validators, validatorProcess{
			Name:  supervisor.name(),
			PID:   state.pid,
			HTTP:  supervisor.node.http.address(),
			Admin: supervisor.node.admin.address(),
			P2P:   supervisor.node.p2p.address(),
		})
	}
	content, err := json.MarshalIndent(current, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.path, err)
	}
	return wholefile.Write(f.path, append(content, '\n'), fileMode)
}

func (f *processesFile) remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// errNotRunning says that a network has no processes.
var errNotRunning = errors.New("does not run")

// processes reads which processes run a network. Whoever is killed leaves the file.
func (d networkDir) processes() (*processes, error) {
	content, err := os.ReadFile(d.runtime())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the network of %s %w", d, errNotRunning)
	}
	if err != nil {
		return nil, err
	}
	var current processes
	if err := json.Unmarshal(content, &current); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.runtime(), err)
	}
	if current.PID > 0 && errors.Is(syscall.Kill(current.PID, 0), syscall.ESRCH) {
		return nil, fmt.Errorf("the network of %s %w: what ran it was process %d, which is no more", d, errNotRunning, current.PID)
	}
	return &current, nil
}
