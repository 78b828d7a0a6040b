// SPDX-License-Identifier: Apache-2.0

// Package leftovers tells of the disks that outlived their network, which go on
// being paid for. It deletes none.
package leftovers
