// SPDX-License-Identifier: Apache-2.0

package machinebackup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// RestoreOptions say what is taken from a backup, and where it goes.
type RestoreOptions struct {
	// From is where the backup is: a folder, or the URL of a place in a bucket.
	From string
	// StateDir is the folder that networks are kept in.
	StateDir string
	// Nodes are those whose data is put back; all that the backup has without one.
	Nodes []string
	// Replace lets what a node has on its disk go.
	Replace bool
	// Shardnode is the path of the node program that is to run the network.
	Shardnode string
}

// Restore puts back what Backup kept: the data of nodes, and where there is no network,
// the network. Everything is checked before anything is written.
func Restore(ctx context.Context, options RestoreOptions) (_ *backup.Manifest, err error) {
	source, err := openSource(ctx, options.From, options.StateDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	manifest := source.manifest
	network, err := source.network(ctx)
	if err != nil {
		return nil, err
	}
	if network.GenesisHash != manifest.GenesisHash || network.Plan.Network != manifest.Network {
		return nil, fmt.Errorf("the backup %s is of network %s with genesis hash %s, and says that it is of %s with %s",
			source.place, network.Plan.Network, network.GenesisHash, manifest.Network, manifest.GenesisHash)
	}
	dir := statedir.NetworkDir(filepath.Join(options.StateDir, manifest.Network))
	back := &restoration{options: &options, source: source, manifest: manifest, plan: network.Plan, dir: dir}
	if err := back.choose(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(dir), statedir.DirMode); err != nil {
		return nil, err
	}
	lock, err := statedir.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("network %s is running: stop it first: %w", manifest.Network, err)
	}
	defer func() { err = errors.Join(err, statedir.Unlock(lock)) }()
	if err := back.check(); err != nil {
		return nil, err
	}
	if err := source.data(ctx, back.nodes); err != nil {
		return nil, err
	}
	return manifest, back.write(ctx)
}

// restoration is one run of Restore.
type restoration struct {
	options  *RestoreOptions
	source   *source
	manifest *backup.Manifest
	plan     *topology.Plan
	dir      statedir.NetworkDir
	// nodes are those whose data is put back, and there says that the network is
	// there.
	nodes []string
	there bool
}

// choose finds the nodes, and sees that the program can read what they had.
func (r *restoration) choose(ctx context.Context) error {
	names := (&statedir.Kept{Plan: r.plan}).Names()
	// Nobody has data put back twice.
	r.nodes = slices.Compact(slices.Sorted(slices.Values(r.options.Nodes)))
	if len(r.nodes) == 0 {
		for _, node := range r.manifest.Nodes {
			r.nodes = append(r.nodes, node.Name)
		}
	}
	formats, err := exec.CommandContext(ctx, r.options.Shardnode, "formats").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its formats: %w", r.options.Shardnode, err)
	}
	reads := string(bytes.TrimSpace(formats))
	for _, name := range r.nodes {
		node := r.manifest.Node(name)
		if node == nil || !slices.Contains(names, name) {
			return fmt.Errorf("the backup %s has no data of a node %s", r.source.place, name)
		}
		if node.Formats != reads {
			return fmt.Errorf("the data of %s has formats %s, and %s reads %s: restore it with the program that wrote it",
				name, node.Formats, r.options.Shardnode, reads)
		}
	}
	return nil
}

// check refuses what would do harm to what is there.
func (r *restoration) check() (err error) {
	if r.there, err = r.dir.Exists(); err != nil {
		return err
	}
	if r.there {
		present, err := statedir.OpenKept(r.dir)
		if err != nil {
			return err
		}
		if present.GenesisHash != r.manifest.GenesisHash {
			return fmt.Errorf("%s is a network with genesis hash %s, and the backup is of one with %s",
				r.dir, present.GenesisHash, r.manifest.GenesisHash)
		}
	}
	if err := r.checkEarlier(); err != nil {
		return err
	}
	for _, name := range r.nodes {
		full, err := r.dir.Node(name).HasData()
		if err != nil {
			return err
		}
		if full && !r.options.Replace {
			return fmt.Errorf("%s has data on its disk, in %s: with --replace, that is removed", name, r.dir.Node(name).Data())
		}
	}
	return r.checkVotes()
}

// checkEarlier refuses to leave nodes as a restore did that did not come to its end.
func (r *restoration) checkEarlier() error {
	begun, err := r.dir.Restoring()
	if err != nil {
		return err
	}
	for _, name := range begun {
		if !slices.Contains(r.nodes, name) {
			return fmt.Errorf("an earlier restore of %s did not come to its end: put back at least all of its nodes, %s is one of them",
				r.dir, name)
		}
	}
	return nil
}

// checkVotes refuses a network of whose producers so many would begin with nothing that
// they could make another chain than the backup has, or with older data than the others that
// they could make another than those have.
func (r *restoration) checkVotes() error {
	err := r.plan.CheckMemory(func(node string) (bool, error) {
		if slices.Contains(r.nodes, node) {
			return true, nil
		}
		return r.dir.Node(node).HasData()
	})
	if err != nil {
		return err
	}
	return r.plan.CheckVotes(func(node string) (bool, error) {
		if slices.Contains(r.nodes, node) {
			return false, nil
		}
		return r.dir.Node(node).HasData()
	})
}

// write puts everything where it belongs: the data of all nodes together, and the genesis
// document of a network that is not there last.
func (r *restoration) write(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.install(); err != nil {
		return err
	}
	if r.there {
		return nil
	}
	for _, validator := range r.plan.Nodes {
		node := r.dir.Node(validator.Name)
		if err := os.MkdirAll(string(node), statedir.DirMode); err != nil {
			return err
		}
		if err := errors.Join(r.putFile(node.Key(), statedir.SecretMode), r.putFile(node.AdminToken(), statedir.SecretMode)); err != nil {
			return err
		}
	}
	if err := r.putFile(r.dir.Manifest(), statedir.FileMode); err != nil {
		return err
	}
	return r.putFile(r.dir.Genesis(), statedir.FileMode)
}

// putFile puts a file of the network, which was checked.
func (r *restoration) putFile(path string, mode os.FileMode) error {
	content, err := os.ReadFile(filepath.Join(string(r.source.files), r.dir.Relative(path)))
	if err != nil {
		return err
	}
	return wholefile.Write(path, content, mode)
}

// prepare puts the data of all nodes beside their places, or that of none.
func (r *restoration) prepare(ctx context.Context) error {
	for i, name := range r.nodes {
		data := r.dir.Node(name).Data()
		err := backup.Prepare(data, func(partial string) error { return r.source.put(ctx, r.dir.Relative(data), partial) })
		if err == nil {
			continue
		}
		for _, earlier := range r.nodes[:i] {
			err = errors.Join(err, backup.Abandon(r.dir.Node(earlier).Data()))
		}
		return err
	}
	return nil
}

// install puts what was prepared in its places, whoever would have it end meanwhile: of
// what it leaves when it is killed, somebody has to be told.
func (r *restoration) install() error {
	if err := errors.Join(r.dir.BeginRestore(r.nodes), r.dir.ForgetChain()); err != nil {
		return err
	}
	for _, name := range r.nodes {
		if err := backup.Install(r.dir.Node(name).Data()); err != nil {
			return err
		}
	}
	return r.dir.EndRestore()
}
