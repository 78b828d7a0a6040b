// SPDX-License-Identifier: Apache-2.0

// Package sweep finds the disks that outlived their network, which nobody uses
// and somebody pays for. It is pure: what a cluster has goes in.
package sweep
