// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/otlp"
)

const (
	dirMode    os.FileMode = 0o700
	secretMode os.FileMode = 0o600
	fileMode   os.FileMode = 0o644
)

// DefaultStateDir is the folder that networks are kept in unless told
// otherwise: $XDG_STATE_HOME/shardyard or ~/.local/state/shardyard.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shardyard"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "shardyard"), nil
}

// networkDir is the folder of one network.
type networkDir string

func (d networkDir) path(name string) string { return filepath.Join(string(d), name) }

func (d networkDir) lock() string     { return d.path("lock") }
func (d networkDir) genesis() string  { return d.path(nodeconfig.DefaultFiles.Genesis) }
func (d networkDir) peers() string    { return d.path(nodeconfig.DefaultFiles.Peers) }
func (d networkDir) manifest() string { return d.path("manifest.yaml") }
func (d networkDir) runtime() string  { return d.path("runtime.json") }
func (d networkDir) chain() string    { return d.path("chain.json") }
func (d networkDir) control() string  { return d.path("control.sock") }
func (d networkDir) nodes() string    { return d.path("nodes") }
func (d networkDir) clients() string  { return d.path("clients") }
func (d networkDir) metrics() string  { return d.path("metrics") }
func (d networkDir) spans() string    { return d.path("spans.otlp") }

// loaderReport and loaderLog are files of the loader of a step, counted from 0.
func (d networkDir) loaderReport(step int) string {
	return filepath.Join(d.clients(), fmt.Sprintf("%d.json", step+1))
}

func (d networkDir) loaderLog(step int) string {
	return filepath.Join(d.clients(), fmt.Sprintf("%d.log", step+1))
}

func (d networkDir) node(name string) nodeDir {
	return nodeDir(filepath.Join(d.nodes(), name))
}

// exists says whether there is a network: the genesis document is what is
// written last when one is made. Other files may be beside networks.
func (d networkDir) exists() (bool, error) {
	switch _, err := os.Stat(d.genesis()); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	default:
		return false, err
	}
}

// clear removes the network and nothing else: the folder may be one that the
// user named.
func (d networkDir) clear() error {
	for _, path := range []string{
		d.genesis(), d.peers(), d.manifest(), d.runtime(), d.chain(), d.control(), d.nodes(), d.clients(), d.metrics(), d.spans(),
		otlp.Previous(d.spans()),
	} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// nodeDir is the folder of one validator.
type nodeDir string

// nodeFiles are where a validator's configuration finds its files.
var nodeFiles = nodeconfig.Files{
	Genesis:    filepath.Join("..", "..", nodeconfig.DefaultFiles.Genesis),
	Peers:      filepath.Join("..", "..", nodeconfig.DefaultFiles.Peers),
	Key:        nodeconfig.DefaultFiles.Key,
	AdminToken: nodeconfig.DefaultFiles.AdminToken,
	Data:       nodeconfig.DefaultFiles.Data,
}

func (d nodeDir) path(name string) string { return filepath.Join(string(d), name) }

func (d nodeDir) config() string      { return d.path(nodeconfig.ConfigFile) }
func (d nodeDir) key() string         { return d.path(nodeFiles.Key) }
func (d nodeDir) adminToken() string  { return d.path(nodeFiles.AdminToken) }
func (d nodeDir) data() string        { return d.path(nodeFiles.Data) }
func (d nodeDir) log() string         { return d.path("node.log") }
func (d nodeDir) previousLog() string { return d.path("node.log.1") }
