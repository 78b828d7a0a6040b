// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"crypto/ed25519"
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

// Network is a network of this machine: what it is made from, and its folder.
type Network struct {
	Dir      NetworkDir
	lock     *os.File
	Manifest *v1alpha1.ShardNetwork
	Plan     *topology.Plan
	Secrets  map[string]Secrets
	Genesis  *nodeconfig.Genesis
	// Resumed says that the network was there before.
	Resumed bool
}

// Open takes the network of a manifest from its folder below the state
// directory, or makes it if it is not there, or is not wanted any more. The
// network is this process's own until it is closed.
func Open(manifestPath, stateDir string, fresh bool) (_ *Network, err error) {
	wanted, err := manifest.Read(manifestPath)
	if err != nil {
		return nil, err
	}
	dir := NetworkDir(filepath.Join(stateDir, wanted.Name))
	if err := os.MkdirAll(string(dir), DirMode); err != nil {
		return nil, err
	}
	lock, err := Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("network %s is running: %w", wanted.Name, err)
	}
	defer func() {
		if err != nil {
			_ = Unlock(lock)
		}
	}()

	exists, err := dir.Exists()
	if err != nil {
		return nil, err
	}
	opened := &Network{Dir: dir, lock: lock, Manifest: wanted, Resumed: exists && !fresh}
	if opened.Resumed {
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

// Close lets other processes have the network.
func (n *Network) Close() error {
	return Unlock(n.lock)
}

// create makes the keys, keeps the manifest and, last of all, writes the
// genesis document.
func (n *Network) create(now time.Time) error {
	if err := n.Dir.Clear(); err != nil {
		return err
	}
	var err error
	if n.Plan, err = topology.New(n.Manifest); err != nil {
		return err
	}
	if n.Secrets, err = makeSecrets(n.Dir, n.Plan); err != nil {
		return err
	}
	if n.Genesis, err = n.newGenesis(now); err != nil {
		return err
	}
	if err := n.keepManifest(); err != nil {
		return err
	}
	content, err := nodeconfig.Encode(n.Genesis)
	if err != nil {
		return err
	}
	return wholefile.Write(n.Dir.Genesis(), content, FileMode)
}

// resume takes what create made, with a manifest that may have changed in what
// genesis does not fix.
func (n *Network) resume(manifestPath string) error {
	if err := n.Dir.CheckRestored(); err != nil {
		return err
	}
	old, err := manifest.Read(n.Dir.Manifest())
	if err != nil {
		return fmt.Errorf("read the manifest it runs with: %w", err)
	}
	if n.Manifest, err = manifest.ReadUpdate(manifestPath, old); err != nil {
		return err
	}
	if n.Plan, err = topology.New(n.Manifest); err != nil {
		return err
	}
	if n.Secrets, err = readSecrets(n.Dir, n.Plan); err != nil {
		return err
	}
	if err := n.readGenesis(); err != nil {
		return err
	}
	return n.keepManifest()
}

func (n *Network) keepManifest() error {
	content, err := EncodeManifest(n.Manifest)
	if err != nil {
		return err
	}
	return wholefile.Write(n.Dir.Manifest(), content, FileMode)
}

// Verifier believes what the genesis document says alone.
func (n *Network) Verifier() (*proof.Verifier, error) {
	document, err := os.ReadFile(n.Dir.Genesis())
	if err != nil {
		return nil, err
	}
	return proof.New(document)
}

func (n *Network) newGenesis(createdAt time.Time) (*nodeconfig.Genesis, error) {
	return nodeconfig.NewGenesis(n.Manifest, n.Plan, n.PublicKeys(), createdAt)
}

// PublicKeys are the public keys of the nodes, by their names.
func (n *Network) PublicKeys() map[string]ed25519.PublicKey {
	publicKeys := make(map[string]ed25519.PublicKey, len(n.Secrets))
	for name, secrets := range n.Secrets {
		publicKeys[name] = secrets.Key.Public()
	}
	return publicKeys
}
