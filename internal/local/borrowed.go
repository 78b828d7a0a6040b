// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	recordings "github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/topology"
)

// errKeeperEnded says that a network that was borrowed is no more.
var errKeeperEnded = errors.New("the program that runs the network ended")

// Borrowed is a network of another process of this machine that carries the load of a
// benchmark, until it is given back.
type Borrowed struct {
	// Network is what runs, with its own load.
	Network *v1alpha1.ShardNetwork
	// Folder is where it is kept.
	Folder string
	// CreatedAt is when its genesis document was made.
	CreatedAt time.Time

	plan      *topology.Plan
	addresses map[string]string
	admins    map[string]chain.Admin
	giveBack  func()
	lost      <-chan struct{}
}

// Borrow finds the network that a benchmark names and that runs on this machine, and has it carry no load of its own
// until it is given back, or this process ends: the context only bounds the asking. The
// error is why it cannot be measured.
func Borrow(ctx context.Context, stateDir string, benchmark *v1alpha1.BenchmarkSpec) (_ *Borrowed, err error) {
	name := benchmark.Network.Name
	dir := statedir.NetworkDir(filepath.Join(stateDir, name))
	current, err := dir.Processes()
	if err != nil {
		return nil, err
	}
	borrowed := &Borrowed{Folder: string(dir), addresses: map[string]string{}, admins: map[string]chain.Admin{}}
	if borrowed.Network, err = manifest.Read(dir.Manifest()); err != nil {
		return nil, fmt.Errorf("read the manifest that the network runs with: %w", err)
	}
	if words := bench.Misfit(&borrowed.Network.Spec, benchmark); words != "" {
		return nil, fmt.Errorf("the network %s cannot carry the load: %s", name, words)
	}
	if borrowed.plan, err = topology.New(borrowed.Network); err != nil {
		return nil, err
	}
	if err := borrowed.learn(dir, current); err != nil {
		return nil, err
	}
	if borrowed.giveBack, borrowed.lost, err = newKeeper(dir).Borrow(ctx); err != nil {
		return nil, fmt.Errorf("the network %s cannot be measured: %w", name, err)
	}
	return borrowed, nil
}

// learn finds where the validators are, and what opens their admin API.
func (b *Borrowed) learn(dir statedir.NetworkDir, current *statedir.Processes) error {
	document, err := os.ReadFile(dir.Genesis())
	if err != nil {
		return err
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal(document, &genesis); err != nil {
		return fmt.Errorf("read %s: %w", dir.Genesis(), err)
	}
	b.CreatedAt = time.UnixMilli(genesis.CreatedAtMs).UTC()
	publicKeys, err := nodeconfig.PublicKeys(document)
	if err != nil {
		return fmt.Errorf("read %s: %w", dir.Genesis(), err)
	}
	for _, validator := range current.Validators {
		token, err := os.ReadFile(dir.Node(validator.Name).AdminToken())
		if err != nil {
			return err
		}
		b.addresses[validator.Name] = validator.HTTP
		b.admins[validator.Name] = chain.Admin{
			Address: validator.Admin, PublicKey: publicKeys[validator.Name], Token: string(bytes.TrimSpace(token)),
		}
	}
	return nil
}

// GiveBack has the network carry its own load again.
func (b *Borrowed) GiveBack() { b.giveBack() }

// Record has the network carry a load until the measurement is complete, and returns
// the record. It comes to rest before, within a time.
func (b *Borrowed) Record(
	ctx context.Context, spec *v1alpha1.LoadSpec, warmUp, duration, patience time.Duration, progress io.Writer,
) (*result.Run, error) {
	load, err := loading.NewRun(spec, warmUp, duration)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-b.lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	recorded, err := recordings.Record(ctx, &recordings.Options{
		Validators: b.plan.Nodes,
		Address:    func(validator string) string { return b.addresses[validator] },
		Schedule:   load.Schedule,
		Steering: &recordings.Steering{
			Load: load, InUse: true, Admin: func(validator string) chain.Admin { return b.admins[validator] },
		},
		WarmUp: warmUp, Duration: duration, Patience: patience,
		Log: slog.New(slog.NewTextHandler(progress, nil)),
	})
	cancel()
	<-ended
	select {
	case <-b.lost:
		return nil, errKeeperEnded
	default:
		return recorded, err
	}
}
