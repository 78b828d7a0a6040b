// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Processes is the content of the file.
type Processes struct {
	Network string `json:"network"`
	// PID is the process that runs the others.
	PID int `json:"pid"`
	// Page is where what happens can be seen.
	Page       string    `json:"page,omitempty"`
	Validators []Process `json:"validators"`
}

// Process is one of a node, and where it listens.
type Process struct {
	Name string `json:"name"`
	// PID is 0 while the validator does not run.
	PID   int    `json:"pid"`
	HTTP  string `json:"http"`
	Admin string `json:"admin"`
	P2P   string `json:"p2p"`
}

// ErrNotRunning says that a network has no processes.
var ErrNotRunning = errors.New("does not run")

// Processes reads which processes run a network. Whoever is killed leaves the file.
func (d NetworkDir) Processes() (*Processes, error) {
	content, err := os.ReadFile(d.Runtime())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the network of %s %w", d, ErrNotRunning)
	}
	if err != nil {
		return nil, err
	}
	var current Processes
	if err := json.Unmarshal(content, &current); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Runtime(), err)
	}
	if current.PID > 0 {
		if err := d.checkHeld(current.PID); err != nil {
			return nil, err
		}
	}
	return &current, nil
}

// checkHeld says whether the process that ran a network is no more. Another one may have its
// number by now, and does not hold the network.
func (d NetworkDir) checkHeld(pid int) error {
	held := !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	if held {
		var err error
		if held, err = d.held(); err != nil {
			return err
		}
	}
	if !held {
		return fmt.Errorf("the network of %s %w: what ran it was process %d, which is no more", d, ErrNotRunning, pid)
	}
	return nil
}

// Named are the processes of nodes with these names, or of all that run.
func (p *Processes) Named(names []string) ([]Process, error) {
	var found []Process
	for _, process := range p.Validators {
		if len(names) > 0 && !slices.Contains(names, process.Name) {
			continue
		}
		if process.PID != 0 {
			found = append(found, process)
		} else if len(names) > 0 {
			return nil, fmt.Errorf("node %s does not run", process.Name)
		}
	}
	for _, name := range names {
		known := func(process Process) bool { return process.Name == name }
		if !slices.ContainsFunc(p.Validators, known) {
			return nil, fmt.Errorf("there is no node %s, but %s", name, strings.Join(p.Names(), ", "))
		}
	}
	return found, nil
}

// Names are those of the nodes.
func (p *Processes) Names() []string {
	names := make([]string, 0, len(p.Validators))
	for _, process := range p.Validators {
		names = append(names, process.Name)
	}
	return names
}
