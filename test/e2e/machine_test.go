// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machine is what a cluster in the machine's own namespaces could leave behind
// or change, each with its value.
type machine map[string]string

// lookAtMachine notes how the machine is.
func lookAtMachine(t *testing.T) machine {
	t.Helper()
	m := machine{}
	m.addFiles(t, "network namespace", "/run/netns/*")
	m.addFiles(t, "control group", "/sys/fs/cgroup/shardyard*", "/sys/fs/cgroup/*/shardyard*")
	m.addFiles(t, "state", theCluster.stateDir(t)+"*")
	m.addLinks(t)
	m.addMounts(t)
	m.addSettings(t)
	m.addProcesses(t)
	return m
}

// checkNothingLeft compares the machine with how it was.
func (m machine) checkNothingLeft(t *testing.T) {
	t.Helper()
	now := lookAtMachine(t)
	for _, thing := range slices.Sorted(maps.Keys(now)) {
		if value, known := m[thing]; !known {
			t.Errorf("the machine has a new %s", thing)
		} else if value != now[thing] {
			t.Errorf("%s is %q, want %q as before", thing, now[thing], value)
		}
	}
}

func (m machine) addFiles(t *testing.T, kind string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			m[kind+" "+file] = ""
		}
	}
}

func (m machine) addLinks(t *testing.T) {
	t.Helper()
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		m["network link "+link.Name] = ""
	}
}

func (m machine) addMounts(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		// The folder of the namespaces becomes a mount with the first one that
		// anybody makes, and stays one.
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] != "/run/netns" {
			m["mount "+fields[4]] = ""
		}
	}
}

// addSettings notes the machine's settings that a kubelet or BBR would change.
func (m machine) addSettings(t *testing.T) {
	t.Helper()
	for _, setting := range []string{
		"kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops",
		"net/ipv4/ip_forward", "net/ipv4/tcp_allowed_congestion_control", "net/ipv4/tcp_congestion_control",
		"vm/overcommit_memory", "vm/panic_on_oom",
	} {
		content, err := os.ReadFile(filepath.Join("/proc/sys", setting))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m["setting "+setting] = strings.TrimSpace(string(content))
	}
}

// addProcesses notes the processes in other network namespaces whose programs
// are of the cache: those of nodes, and nobody else's.
func (m machine) addProcesses(t *testing.T) {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		// Processes may end while this looks at them.
		namespace, err := os.Readlink(process + "/ns/net")
		if err != nil || namespace == own {
			continue
		}
		program, err := os.Readlink(process + "/exe")
		if err == nil && strings.Contains(program, "/tools/") {
			m[fmt.Sprintf("process %s: %s", filepath.Base(process), program)] = ""
		}
	}
}
