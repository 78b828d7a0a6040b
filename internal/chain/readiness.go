// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// Readiness says whether a node takes part in the chain.
type Readiness struct {
	Ready bool `json:"ready"`
	// Reasons say why the node is not ready.
	Reasons []string `json:"reasons"`
}

// Readiness asks a node whether it takes part in the chain. That it does not is
// an answer, not an error.
func (c *Client) Readiness(ctx context.Context) (*Readiness, error) {
	var readiness Readiness
	if err := c.send(ctx, request{
		method: http.MethodGet,
		path:   "/readyz",
		accept: []int{http.StatusServiceUnavailable},
	}, &readiness); err != nil {
		return nil, err
	}
	return &readiness, nil
}
