// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/shardyard/shardyard/internal/chain"
)

// Stocked says how far the producers are with what they sign before a load.
type Stocked struct {
	// Signed is how many transfers are signed, and Transfers how many will be.
	Signed, Transfers int64
}

// Complete says whether the load can begin.
func (s Stocked) Complete() bool { return s.Signed == s.Transfers }

// SignBefore has the producers sign what the load takes, before it begins, if it is
// one of which they do. Each is told once; it has to be called again until they are
// complete. The error is that they will not be.
func (d *Driver) SignBefore(ctx context.Context) (Stocked, error) {
	var made Stocked
	if d.Load.Signing != chain.SigningBefore {
		return made, nil
	}
	shares := d.Load.stock(d.validators)
	signed, failures := make([]int64, len(shares)), make([]error, len(shares))
	var asked sync.WaitGroup
	for i, share := range shares {
		if share > 0 {
			asked.Go(func() { signed[i], failures[i] = d.signBefore(ctx, i, share) })
		}
	}
	asked.Wait()
	for i, share := range shares {
		made.Signed += signed[i]
		made.Transfers += share
	}
	return made, errors.Join(failures...)
}

// signBefore has one producer sign its share, and says how much of it is signed.
func (d *Driver) signBefore(ctx context.Context, index int, share int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	node := &d.Nodes[index]
	ask := node.Client.Load
	if !d.ordered[index] {
		ask = func(ctx context.Context) (*chain.Load, error) {
			return node.Client.SetLoad(ctx, chain.LoadTarget{
				Workload: d.Load.Workload, Signing: chain.SigningBefore, Stock: share,
			})
		}
	}
	load, err := ask(ctx)
	if refused, is := errors.AsType[*chain.ResponseError](err); is && refused.StatusCode == http.StatusBadRequest {
		return 0, fmt.Errorf("validator %s does not sign %d transfers before: %w", node.Validator.Name, share, err)
	}
	if err != nil {
		// It is asked again.
		return 0, nil
	}
	d.ordered[index] = true
	switch stock := load.Stock; {
	case stock == nil || stock.Transfers != share:
		return 0, fmt.Errorf("validator %s was told to sign %d transfers before, and has none or others: "+
			"it was started again, or somebody else tells it as well", node.Validator.Name, share)
	case stock.Failure != "":
		return 0, fmt.Errorf("validator %s does not keep the transfers that it signs before: %s", node.Validator.Name, stock.Failure)
	default:
		return stock.Signed, nil
	}
}
