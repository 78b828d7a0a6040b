// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
)

// signBefore has the producers sign a load before it begins, if it is one of which they
// do. They may take as long as they need, but not stand still.
func (g *group) signBefore(ctx context.Context, load *loading.Load, patience time.Duration) error {
	if load.Signing != chain.SigningBefore {
		return nil
	}
	driver := newLoadDriver(g, load, false)
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	began, moved, most := time.Now(), time.Now(), int64(0)
	for announced := false; ; announced = true {
		stocked, err := driver.SignBefore(ctx)
		if err != nil {
			return err
		}
		if !announced {
			g.console.Printf("load: %s are signed before it begins", console.Plural(stocked.Transfers, "transfer"))
		}
		if stocked.Complete() {
			g.console.Printf("load: signed in %.1f s", time.Since(began).Seconds())
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
			return errInterrupted
		case err := <-g.failed:
			return err
		case <-ticker.C:
		}
	}
}

// newLoadDriver lets the producers of a group sign a load. Others may have told them
// another one before.
func newLoadDriver(group *group, load *loading.Load, told bool) *loading.Driver {
	options := loading.Options{
		Load:    load,
		Told:    told,
		Changed: group.changed,
		Announce: func(rate int64) {
			group.console.Printf("load: %s", console.Plural(rate, "transfer")+" per second")
		},
		Refused: func(validator string, err error) {
			group.console.Printf("validator %s does not take its load: %v", validator, err)
		},
	}
	for _, supervisor := range group.supervisors {
		options.Nodes = append(options.Nodes, loading.Node{
			Validator: supervisor.node.Validator,
			Client:    supervisor.client,
			Process: func() (int, bool) {
				state := supervisor.current()
				return state.starts, state.wasReady
			},
		})
	}
	return loading.NewDriver(options)
}
