// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// frozen is the process of a node that hangs.
type frozen int

// freeze has the node of a pod hang: its process is one of this machine.
func freeze(t *testing.T, pod *corev1.Pod) frozen {
	t.Helper()
	process := frozen(processOf(t, pod, "shardnode"))
	if err := syscall.Kill(int(process), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It may have ended since.
		_ = syscall.Kill(int(process), syscall.SIGCONT)
	})
	return process
}

// thaw has it go on, unless somebody ended it meanwhile.
func (f frozen) thaw(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(int(f), syscall.SIGCONT); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
}

// processOf is the process of a pod that runs a program, told by its control group.
func processOf(t *testing.T, pod *corev1.Pod, program string) int {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		name, _ := os.ReadFile(filepath.Join(folder, "comm"))
		groups, _ := os.ReadFile(filepath.Join(folder, "cgroup"))
		// systemd writes a pod's id in its own way.
		if strings.TrimSpace(string(name)) == program &&
			strings.Contains(strings.ReplaceAll(string(groups), "_", "-"), string(pod.UID)) {
			process, err := strconv.Atoi(filepath.Base(folder))
			if err != nil {
				t.Fatal(err)
			}
			return process
		}
	}
	t.Fatalf("no process of this machine is the %s of %s", program, pod.Name)
	return 0
}
