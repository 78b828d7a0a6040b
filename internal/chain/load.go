// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"cmp"
	"context"
	"net/http"
)

// Load is the in-node generator of a node: its target, and what it did since
// the node started.
type Load struct {
	TransfersPerSecond int64 `json:"transfersPerSecond"`
	// Workload is which transfers it signs.
	Workload Workload `json:"workload"`
	// Signed is the number of transfers that the generator signed.
	Signed uint64 `json:"signed"`
	// Rejected is the number of them that the node's pool refused.
	Rejected uint64 `json:"rejected"`
	// HeldBack is the number of transfers that were due and that it did not sign,
	// because the pool had no room.
	HeldBack uint64 `json:"heldBack"`
	// Overdue is the number of transfers that were due and that it was too late
	// for.
	Overdue uint64 `json:"overdue"`
}

// Workload is who pays whom. What is empty is as a generator draws it by default,
// and so is all of a node that does not tell it.
type Workload struct {
	Senders   string `json:"senders,omitempty"`
	Receivers string `json:"receivers,omitempty"`
	// WithinShardPercent is nil where it is as it comes.
	WithinShardPercent *int32 `json:"withinShardPercent,omitempty"`
}

// defaultDistribution is what a generator draws senders and receivers by.
const defaultDistribution = "ZipfMandelbrot"

// Same says whether a generator draws the same of both.
func (w Workload) Same(other Workload) bool {
	distribution := func(name string) string { return cmp.Or(name, defaultDistribution) }
	return distribution(w.Senders) == distribution(other.Senders) &&
		distribution(w.Receivers) == distribution(other.Receivers) &&
		(w.WithinShardPercent == nil) == (other.WithinShardPercent == nil) &&
		(w.WithinShardPercent == nil || *w.WithinShardPercent == *other.WithinShardPercent)
}

const loadPath = "/admin/load"

// Load asks a node for its generator. It is an admin request.
func (c *Client) Load(ctx context.Context) (*Load, error) {
	var load Load
	if err := c.send(ctx, request{method: http.MethodGet, path: loadPath, admin: true}, &load); err != nil {
		return nil, err
	}
	return &load, nil
}

// SetLoad sets the rate at which a node signs transfers, and which, and returns
// what the node made of it. It is an admin request.
func (c *Client) SetLoad(ctx context.Context, transfersPerSecond int64, workload Workload) (*Load, error) {
	target := struct {
		TransfersPerSecond int64    `json:"transfersPerSecond"`
		Workload           Workload `json:"workload,omitzero"`
	}{transfersPerSecond, workload}
	var load Load
	if err := c.send(ctx, request{method: http.MethodPut, path: loadPath, admin: true, body: target}, &load); err != nil {
		return nil, err
	}
	return &load, nil
}
