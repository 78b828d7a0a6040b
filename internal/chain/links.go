// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// LinkCondition is what a fault makes of links.
type LinkCondition string

// What a fault makes of links.
const (
	// LinkCut lets nothing pass.
	LinkCut LinkCondition = "Cut"
	// LinkWorse has everything take longer, or segments be lost.
	LinkWorse LinkCondition = "Worse"
)

// LinkFault is a fault of the links between a node and some of its peers. It ends by
// itself.
type LinkFault struct {
	// Peers are the names of the peers.
	Peers     []string      `json:"peers"`
	Condition LinkCondition `json:"condition"`
	// DelayMilliseconds is how much longer everything takes, one way, and
	// LossBasisPoints how many of 10,000 segments are lost.
	DelayMilliseconds int32 `json:"delayMilliseconds,omitempty"`
	LossBasisPoints   int32 `json:"lossBasisPoints,omitempty"`
	// DurationMilliseconds is how long it lasts.
	DurationMilliseconds int64 `json:"durationMilliseconds"`
}

const linksPath = "/admin/links"

// BeginLinkFault has the links of a node have a fault, in the place of one that goes
// on. It is an admin request.
func (c *Client) BeginLinkFault(ctx context.Context, fault *LinkFault) error {
	return c.send(ctx, request{method: http.MethodPut, path: linksPath, admin: true, body: fault}, &struct{}{})
}

// EndLinkFault ends the fault of a node's links, if there is one. It is an admin
// request.
func (c *Client) EndLinkFault(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodDelete, path: linksPath, admin: true}, &struct{}{})
}
