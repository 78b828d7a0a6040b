// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// ProcessCondition is what a fault makes of the process of a node.
type ProcessCondition string

// What a fault makes of the process of a node.
const (
	// ProcessPaused stops it as it is, until it goes on.
	ProcessPaused ProcessCondition = "Paused"
	// ProcessGone ends it at once, until it begins anew.
	ProcessGone ProcessCondition = "Gone"
	// ProcessReplaced has another program take its place meanwhile.
	ProcessReplaced ProcessCondition = "Replaced"
)

// ProcessFault is a fault of the process of a node. It ends by itself, and nobody is
// answered before.
type ProcessFault struct {
	Condition ProcessCondition `json:"condition"`
	// Program is the name of a file beside the node's own program, and Arguments what
	// comes before those of a node: of one that is replaced.
	Program   string   `json:"program,omitempty"`
	Arguments []string `json:"arguments,omitempty"`
	// DurationMilliseconds is how long it lasts.
	DurationMilliseconds int64 `json:"durationMilliseconds"`
}

const processPath = "/admin/process"

// BeginProcessFault has the process of a node have a fault, once this is answered. It is
// an admin request.
func (c *Client) BeginProcessFault(ctx context.Context, fault *ProcessFault) error {
	return c.send(ctx, request{method: http.MethodPut, path: processPath, admin: true, body: fault}, &struct{}{})
}
