// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// BeginRestore notes whose data is being put back. Until EndRestore, nobody runs the network
// or keeps it: some of its nodes may have the state of before and some of after, and
// producers that forgot their votes together, beside others that did not, can make a second
// chain.
func (d NetworkDir) BeginRestore(nodes []string) error {
	content, err := json.Marshal(nodes)
	if err != nil {
		return fmt.Errorf("encode the nodes that are put back: %w", err)
	}
	if err := wholefile.Write(d.restoring(), append(content, '\n'), FileMode); err != nil {
		return err
	}
	return backup.SyncFolder(string(d))
}

// EndRestore says that all of them have it.
func (d NetworkDir) EndRestore() error {
	if err := os.Remove(d.restoring()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Restoring are the nodes whose data was being put back; none when it is.
func (d NetworkDir) Restoring() ([]string, error) {
	content, err := os.ReadFile(d.restoring())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var nodes []string
	if err := json.Unmarshal(content, &nodes); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.restoring(), err)
	}
	return nodes, nil
}

// CheckRestored refuses a network whose restore did not come to its end.
func (d NetworkDir) CheckRestored() error {
	nodes, err := d.Restoring()
	if err != nil || len(nodes) == 0 {
		return err
	}
	return fmt.Errorf("shardyard restore did not come to its end: run it again, with --replace, for at least the nodes %s",
		strings.Join(nodes, ", "))
}
