// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

// RunFault has a fault happen to a network that runs on this machine, and sets the
// fault's status to what came of it. The error is about what kept it from being
// measured.
func RunFault(ctx context.Context, stateDir string, wanted *v1alpha1.Fault, progress io.Writer) error {
	dir := statedir.NetworkDir(filepath.Join(stateDir, wanted.Spec.NetworkName))
	current, err := dir.Processes()
	if err != nil {
		return err
	}
	network, err := manifest.Read(dir.Manifest())
	if err != nil {
		return fmt.Errorf("read the manifest that the network runs with: %w", err)
	}
	plan, err := topology.New(network)
	if err != nil {
		return err
	}
	scope, err := fault.Select(&wanted.Spec.Validators, plan)
	if err != nil {
		return err
	}
	orders, err := fault.Orders(&wanted.Spec, scope, plan)
	if err != nil {
		return err
	}
	keeper := newKeeper(dir)
	if keeper.program, err = findProgram(&wanted.Spec); err != nil {
		return err
	}
	addresses := make(map[string]string, len(current.Validators))
	for _, validator := range current.Validators {
		addresses[validator.Name] = validator.HTTP
	}
	status, err := faulting.Run(ctx, &faulting.Options{
		Spec: &wanted.Spec, Plan: plan, Scope: scope, Orders: orders, Actor: keeper,
		Address:  func(validator string) string { return addresses[validator] },
		Progress: console.New(progress).Printf,
	})
	if err != nil {
		return err
	}
	wanted.Status = *status
	return nil
}

// findProgram is the program that a fault has take the place of nodes, as others find it
// wherever they were started; nil if there is none.
func findProgram(spec *v1alpha1.FaultSpec) (*fault.Program, error) {
	program := fault.ProgramOf(spec)
	if program == nil {
		return nil, nil
	}
	path, err := filepath.Abs(program.Path)
	if err == nil {
		path, err = exec.LookPath(path)
	}
	if err != nil {
		return nil, fmt.Errorf("spec.byzantine.program: %w", err)
	}
	program.Path = path
	return program, nil
}
