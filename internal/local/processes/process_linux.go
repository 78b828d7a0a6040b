// SPDX-License-Identifier: Apache-2.0

package processes

import "syscall"

// processAttributes put a process into a group of its own, so that Ctrl-C in a
// terminal reaches this program alone, which then stops the others in order. If
// this program is killed, the kernel kills them.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
