// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
)

// Without it, the kernel would only say that something is wrong, not what.
func init() { nl.EnableErrorMessageReporting = true }

// maxDumps is how often a list is asked for that changes while it is read.
const maxDumps = 5

// consistent reads a list again that changed while it was read, as the kernel
// says.
func consistent[T any](list func() ([]T, error)) ([]T, error) {
	for range maxDumps - 1 {
		if found, err := list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return found, err
		}
	}
	return list()
}
