// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// DiskCondition is what a fault makes of a node's disk.
type DiskCondition string

// What a fault makes of a disk.
const (
	// DiskSlow has everything that writes take longer.
	DiskSlow DiskCondition = "Slow"
	// DiskFull has nothing be written. A node that cannot write ends.
	DiskFull DiskCondition = "Full"
)

// DiskFault is a fault of a node's disk. It ends by itself.
type DiskFault struct {
	Condition DiskCondition `json:"condition"`
	// DelayMilliseconds is how much longer everything takes that writes.
	DelayMilliseconds int32 `json:"delayMilliseconds,omitempty"`
	// DurationMilliseconds is how long it lasts.
	DurationMilliseconds int64 `json:"durationMilliseconds"`
}

const diskPath = "/admin/disk"

// BeginDiskFault has the disk of a node have a fault, in the place of one that goes on.
// It is an admin request.
func (c *Client) BeginDiskFault(ctx context.Context, fault *DiskFault) error {
	return c.send(ctx, request{method: http.MethodPut, path: diskPath, admin: true, body: fault}, &struct{}{})
}

// EndDiskFault ends the fault of a node's disk, if there is one. It is an admin request.
func (c *Client) EndDiskFault(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodDelete, path: diskPath, admin: true}, &struct{}{})
}
