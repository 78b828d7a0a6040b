// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// Load is the in-node generator of a node: its target, and what it did since
// the node started.
type Load struct {
	TransfersPerSecond int64 `json:"transfersPerSecond"`
	// Signed is the number of transfers that the generator signed.
	Signed uint64 `json:"signed"`
	// Rejected is the number of them that the node's pool refused.
	Rejected uint64 `json:"rejected"`
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

// SetLoad sets the rate at which a node signs transfers and returns what the
// node made of it. It is an admin request.
func (c *Client) SetLoad(ctx context.Context, transfersPerSecond int64) (*Load, error) {
	target := struct {
		TransfersPerSecond int64 `json:"transfersPerSecond"`
	}{transfersPerSecond}
	var load Load
	if err := c.send(ctx, request{method: http.MethodPut, path: loadPath, admin: true, body: target}, &load); err != nil {
		return nil, err
	}
	return &load, nil
}
