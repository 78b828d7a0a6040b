// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package processes

import "syscall"

// processAttributes put a process into a group of its own, so that Ctrl-C in a
// terminal reaches this program alone, which then stops the others in order.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
