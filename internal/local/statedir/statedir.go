// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/otlp"
)

// The modes of folders, of files that only their owner may read, and of other files.
const (
	DirMode    os.FileMode = 0o700
	SecretMode os.FileMode = 0o600
	FileMode   os.FileMode = 0o644
)

// Default is the folder that networks are kept in unless told
// otherwise: $XDG_STATE_HOME/shardyard or ~/.local/state/shardyard.
func Default() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shardyard"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "shardyard"), nil
}

// NetworkDir is the folder of one network.
type NetworkDir string

func (d NetworkDir) path(name string) string { return filepath.Join(string(d), name) }

func (d NetworkDir) lock() string { return d.path("lock") }

// Genesis is the genesis document.
func (d NetworkDir) Genesis() string { return d.path(nodeconfig.DefaultFiles.Genesis) }

// Peers is the file of the peers.
func (d NetworkDir) Peers() string { return d.path(nodeconfig.DefaultFiles.Peers) }

// Manifest is the manifest as it was applied last.
func (d NetworkDir) Manifest() string { return d.path("manifest.yaml") }

// Runtime is the file of the processes that run the network.
func (d NetworkDir) Runtime() string { return d.path("runtime.json") }

func (d NetworkDir) chain() string { return d.path("chain.json") }

func (d NetworkDir) restoring() string { return d.path("restoring.json") }

// Control is the socket by which other programs ask something of who runs the network.
func (d NetworkDir) Control() string { return d.path("control.sock") }

// Nodes is the folder of the folders of nodes.
func (d NetworkDir) Nodes() string { return d.path("nodes") }

// Clients is the folder of what loaders leave.
func (d NetworkDir) Clients() string { return d.path("clients") }

// Metrics is the folder of the metrics.
func (d NetworkDir) Metrics() string { return d.path("metrics") }

// Spans is the file of the spans.
func (d NetworkDir) Spans() string { return d.path("spans.otlp") }

// LoaderReport is what the loader reports of a step, counted from 0.
func (d NetworkDir) LoaderReport(step int) string {
	return filepath.Join(d.Clients(), fmt.Sprintf("%d.json", step+1))
}

// LoaderLog is the log of the loader of a step, counted from 0.
func (d NetworkDir) LoaderLog(step int) string {
	return filepath.Join(d.Clients(), fmt.Sprintf("%d.log", step+1))
}

// Node is the folder of a node.
func (d NetworkDir) Node(name string) NodeDir {
	return NodeDir(filepath.Join(d.Nodes(), name))
}

// Exists says whether there is a network: the genesis document is what is
// written last when one is made. Other files may be beside networks.
func (d NetworkDir) Exists() (bool, error) {
	switch _, err := os.Stat(d.Genesis()); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	default:
		return false, err
	}
}

// Clear removes the network and nothing else: the folder may be one that the
// user named.
func (d NetworkDir) Clear() error {
	for _, path := range []string{
		d.Genesis(), d.Peers(), d.Manifest(), d.Runtime(), d.chain(), d.restoring(), d.Control(), d.Nodes(), d.Clients(), d.Metrics(), d.Spans(),
		otlp.Previous(d.Spans()),
	} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// KeepLogs removes what nodes have that does not say what they did: their chain, and what
// only they know. The network does not run again. It says whether there is a log.
func (d NetworkDir) KeepLogs() (kept bool, err error) {
	nodes, err := os.ReadDir(d.Nodes())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	for _, entry := range nodes {
		node := d.Node(entry.Name())
		if _, missing := os.Stat(node.Log()); missing == nil {
			kept = true
		}
		err = errors.Join(err, os.RemoveAll(node.Data()), os.RemoveAll(node.Key()), os.RemoveAll(node.AdminToken()))
	}
	return kept, err
}

// NodeDir is the folder of one validator.
type NodeDir string

// NodeFiles are where a validator's configuration finds its files.
var NodeFiles = nodeconfig.Files{
	Genesis:    filepath.Join("..", "..", nodeconfig.DefaultFiles.Genesis),
	Peers:      filepath.Join("..", "..", nodeconfig.DefaultFiles.Peers),
	Key:        nodeconfig.DefaultFiles.Key,
	AdminToken: nodeconfig.DefaultFiles.AdminToken,
	Data:       nodeconfig.DefaultFiles.Data,
}

func (d NodeDir) path(name string) string { return filepath.Join(string(d), name) }

// Config is the configuration of the node.
func (d NodeDir) Config() string { return d.path(nodeconfig.ConfigFile) }

// Key is the file of its key.
func (d NodeDir) Key() string { return d.path(NodeFiles.Key) }

// AdminToken is the file of the token of its admin API.
func (d NodeDir) AdminToken() string { return d.path(NodeFiles.AdminToken) }

// Data is the folder of its data.
func (d NodeDir) Data() string { return d.path(NodeFiles.Data) }

// Log is the log of its last run.
func (d NodeDir) Log() string { return d.path("node.log") }

// PreviousLog is the log of the run before that.
func (d NodeDir) PreviousLog() string { return d.path("node.log.1") }

// Relative is a path as it is in the network's folder.
func (d NetworkDir) Relative(path string) string {
	return strings.TrimPrefix(path, string(d)+string(filepath.Separator))
}

// HasData says whether a node has anything on its disk.
func (d NodeDir) HasData() (bool, error) {
	entries, err := os.ReadDir(d.Data())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}

// DoubleConfig is the configuration of what takes the place of the node by a fault.
func (d NodeDir) DoubleConfig() string { return d.path("double.json") }

// DoubleData is the copy of the data that this has.
func (d NodeDir) DoubleData() string { return d.path("double") }

// RemoveDouble removes what a double has left, if there was one.
func (d NodeDir) RemoveDouble() error {
	if err := os.RemoveAll(d.DoubleData()); err != nil {
		return err
	}
	return os.RemoveAll(d.DoubleConfig())
}
