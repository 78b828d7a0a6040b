// SPDX-License-Identifier: Apache-2.0

// Package sweep finds the disks that outlived their network, which nobody uses
// and somebody pays for, and deletes them when it is asked to.
package sweep
