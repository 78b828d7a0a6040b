// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

// signBefore has the producers of a group sign a load before it begins, if it is one of which they
// do. They may take as long as they need, but not stand still.
func signBefore(ctx context.Context, group *supervision.Group, load *loading.Load, patience time.Duration) error {
	if load.Signing != chain.SigningBefore {
		return nil
	}
	driver := newLoadDriver(group, load, false)
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	began, moved, most := time.Now(), time.Now(), int64(0)
	for announced := false; ; announced = true {
		stocked, err := driver.SignBefore(ctx)
		if err != nil {
			return err
		}
		if !announced {
			group.Console.Printf("load: %s are signed before it begins", console.Plural(stocked.Transfers, "transfer"))
		}
		if stocked.Complete() {
			group.Console.Printf("load: signed in %.1f s", time.Since(began).Seconds())
			return nil
		}
		if stocked.Signed > most {
			moved, most = time.Now(), stocked.Signed
		}
		if time.Since(moved) > patience {
			return fmt.Errorf("the validators signed %d of %d transfers before the load, and no more within %s", most, stocked.Transfers, patience)
		}
		select {
		case <-ctx.Done():
			return supervision.ErrInterrupted
		case err := <-group.Failed():
			return err
		case <-ticker.C:
		}
	}
}

// newLoadDriver lets the producers of a group sign a load. Others may have told them
// another one before.
func newLoadDriver(group *supervision.Group, load *loading.Load, told bool) *loading.Driver {
	options := loading.Options{
		Load:    load,
		Told:    told,
		Changed: group.Changed(),
		Announce: func(rate int64) {
			group.Console.Printf("load: %s", console.Plural(rate, "transfer")+" per second")
		},
		Refused: func(validator string, err error) {
			group.Console.Printf("validator %s does not take its load: %v", validator, err)
		},
	}
	for _, supervisor := range group.Supervisors {
		options.Nodes = append(options.Nodes, loading.Node{
			Validator: supervisor.Node.Validator,
			Client:    supervisor.Client,
			Process: func() (int, bool) {
				state := supervisor.Current()
				return state.Starts, state.WasReady
			},
		})
	}
	return loading.NewDriver(options)
}
