// SPDX-License-Identifier: Apache-2.0

// Package machinenodes makes the nodes of a network ready to be started on this
// machine: free ports of its own for each, and the files that tell it of them.
package machinenodes
