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
	// Signing is when it signs them; empty of a node that does not tell, which signs
	// them when they are due.
	Signing Signing `json:"signing,omitempty"`
	// Signed is the number of transfers that the generator signed, those of a stock once
	// it took them from there.
	Signed uint64 `json:"signed"`
	// Rejected is the number of them that the node's pool refused.
	Rejected uint64 `json:"rejected"`
	// HeldBack is the number of transfers that were due and that it did not sign,
	// because the pool had no room.
	HeldBack uint64 `json:"heldBack"`
	// Overdue is the number of transfers that were due and that it was too late
	// for.
	Overdue uint64 `json:"overdue"`
	// Exhausted is the number of transfers that were due and that the stock did not
	// have any more.
	Exhausted uint64 `json:"exhausted"`
	// Stock are the transfers that it signs, or has signed, before they are due; nil
	// without any.
	Stock *Stock `json:"stock"`
}

// Stock are transfers that a generator signs before they are due.
type Stock struct {
	// Transfers is how many it was told to sign, Signed how many it has, and Left how
	// many of these it has not taken yet.
	Transfers int64 `json:"transfers"`
	Signed    int64 `json:"signed"`
	Left      int64 `json:"left"`
	// Failure is why its disk does not keep them; empty if it does.
	Failure string `json:"failure"`
}

// Signing is when a generator signs transfers.
type Signing string

const (
	// SigningLive is when they are due, as it is by default.
	SigningLive Signing = "Live"
	// SigningBefore is before they are due: they are taken from the stock.
	SigningBefore Signing = "Before"
)

// Same says whether a generator signs at the same time by both.
func (s Signing) Same(other Signing) bool {
	return cmp.Or(s, SigningLive) == cmp.Or(other, SigningLive)
}

// LoadTarget is what a generator is told.
type LoadTarget struct {
	TransfersPerSecond int64    `json:"transfersPerSecond"`
	Workload           Workload `json:"workload,omitzero"`
	Signing            Signing  `json:"signing,omitempty"`
	// Stock is how many transfers to sign now, before they are due; with 0, the stock is
	// left as it is.
	Stock int64 `json:"stock,omitempty"`
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

// SetLoad tells a node's generator, and returns what the node made of it. It is an
// admin request.
func (c *Client) SetLoad(ctx context.Context, target LoadTarget) (*Load, error) {
	var load Load
	if err := c.send(ctx, request{method: http.MethodPut, path: loadPath, admin: true, body: target}, &load); err != nil {
		return nil, err
	}
	return &load, nil
}
