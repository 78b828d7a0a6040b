// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// ClockFault is a fault of a node's clock. It ends by itself.
type ClockFault struct {
	// OffsetMilliseconds is how far the clock is ahead of the right time; behind it if
	// negative.
	OffsetMilliseconds int32 `json:"offsetMilliseconds"`
	// DurationMilliseconds is how long it lasts.
	DurationMilliseconds int64 `json:"durationMilliseconds"`
}

const clockPath = "/admin/clock"

// BeginClockFault has the clock of a node be wrong, in the place of a fault that goes on.
// It is an admin request.
func (c *Client) BeginClockFault(ctx context.Context, fault *ClockFault) error {
	return c.send(ctx, request{method: http.MethodPut, path: clockPath, admin: true, body: fault}, &struct{}{})
}

// EndClockFault has the clock of a node be right, if a fault has it be wrong. It is an
// admin request.
func (c *Client) EndClockFault(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodDelete, path: clockPath, admin: true}, &struct{}{})
}
