// SPDX-License-Identifier: Apache-2.0

// Package observed is a network as it was last seen: its nodes, their machines and
// disks, which of them take part or are back, and whether the chain stands still. It is
// pure.
package observed
