// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// network is a network of this machine: what it is made from, and its folder.
type network struct {
	dir  networkDir
	lock *os.File
	// guards keep other networks from the ports of this one.
	guards   []port
	manifest *v1alpha1.ShardNetwork
	plan     *topology.Plan
	secrets  map[string]secrets
	genesis  *nodeconfig.Genesis
	// resumed says that the network was there before.
	resumed bool
	// page is nil when the network is not to be seen.
	page *page
	// spans is nil when spans go where the manifest says, if anywhere.
	spans *collector
}

// openNetwork takes the network of a manifest from its folder below the state
// directory, or makes it if it is not there, or is not wanted any more. The
// network is this process's own until it is closed.
func openNetwork(manifestPath, stateDir string, fresh bool) (_ *network, err error) {
	wanted, err := manifest.Read(manifestPath)
	if err != nil {
		return nil, err
	}
	dir := networkDir(filepath.Join(stateDir, wanted.Name))
	if err := os.MkdirAll(string(dir), dirMode); err != nil {
		return nil, err
	}
	lock, err := lockNetwork(dir)
	if err != nil {
		return nil, fmt.Errorf("network %s is running: %w", wanted.Name, err)
	}
	defer func() {
		if err != nil {
			_ = unlockNetwork(lock)
		}
	}()

	exists, err := dir.exists()
	if err != nil {
		return nil, err
	}
	opened := &network{dir: dir, lock: lock, manifest: wanted, resumed: exists && !fresh}
	if opened.resumed {
		if err := opened.resume(manifestPath); err != nil {
			return nil, &ResumeError{Dir: string(dir), Err: err}
		}
		return opened, nil
	}
	if err := opened.create(time.Now()); err != nil {
		return nil, fmt.Errorf("make network %s: %w", wanted.Name, err)
	}
	return opened, nil
}

// ResumeError says why the network of a folder cannot go on with a manifest.
type ResumeError struct {
	// Dir is the folder of the network.
	Dir string
	// Err is the reason.
	Err error
}

// Error names the folder and the reason.
func (e *ResumeError) Error() string {
	return fmt.Sprintf("resume the network of %s: %v", e.Dir, e.Err)
}

// Unwrap is the reason.
func (e *ResumeError) Unwrap() error {
	return e.Err
}

// close lets other processes have the network.
func (n *network) close() error {
	return errors.Join(releasePorts(n.guards), unlockNetwork(n.lock))
}

// create makes the keys, keeps the manifest and, last of all, writes the
// genesis document.
func (n *network) create(now time.Time) error {
	if err := n.dir.clear(); err != nil {
		return err
	}
	var err error
	if n.plan, err = topology.New(n.manifest); err != nil {
		return err
	}
	if n.secrets, err = makeSecrets(n.dir, n.plan); err != nil {
		return err
	}
	if n.genesis, err = n.newGenesis(now); err != nil {
		return err
	}
	if err := n.keepManifest(); err != nil {
		return err
	}
	content, err := nodeconfig.Encode(n.genesis)
	if err != nil {
		return err
	}
	return wholefile.Write(n.dir.genesis(), content, fileMode)
}

// resume takes what create made, with a manifest that may have changed in what
// genesis does not fix.
func (n *network) resume(manifestPath string) error {
	old, err := manifest.Read(n.dir.manifest())
	if err != nil {
		return fmt.Errorf("read the manifest it runs with: %w", err)
	}
	if n.manifest, err = manifest.ReadUpdate(manifestPath, old); err != nil {
		return err
	}
	if n.plan, err = topology.New(n.manifest); err != nil {
		return err
	}
	if n.secrets, err = readSecrets(n.dir, n.plan); err != nil {
		return err
	}
	if err := n.readGenesis(); err != nil {
		return err
	}
	return n.keepManifest()
}

func (n *network) keepManifest() error {
	content, err := encodeManifest(n.manifest)
	if err != nil {
		return err
	}
	return wholefile.Write(n.dir.manifest(), content, fileMode)
}

// verifier believes what the genesis document says alone.
func (n *network) verifier() (*proof.Verifier, error) {
	document, err := os.ReadFile(n.dir.genesis())
	if err != nil {
		return nil, err
	}
	return proof.New(document)
}

func (n *network) newGenesis(createdAt time.Time) (*nodeconfig.Genesis, error) {
	return nodeconfig.NewGenesis(n.manifest, n.plan, n.publicKeys(), createdAt)
}

func (n *network) publicKeys() map[string]ed25519.PublicKey {
	publicKeys := make(map[string]ed25519.PublicKey, len(n.secrets))
	for name, secrets := range n.secrets {
		publicKeys[name] = secrets.key.Public()
	}
	return publicKeys
}
