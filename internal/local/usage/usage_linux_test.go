// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	reader := NewReader()
	used := reader.Process(os.Getpid())
	if used.CPUSeconds == nil || used.MemoryBytes == nil || used.FileMemoryBytes == nil {
		t.Fatalf("this process used %+v, want something to be known", used)
	}
	// A Go test has more than a megabyte, and this machine less than a terabyte.
	if *used.MemoryBytes < 1<<20 || *used.MemoryBytes > 1<<40 {
		t.Errorf("this process has %d bytes of memory", *used.MemoryBytes)
	}
	for _, pid := range []int{0, 1 << 30} {
		if used := reader.Process(pid); used.CPUSeconds != nil || used.MemoryBytes != nil || used.DiskWrittenBytes != nil {
			t.Errorf("process %d, which does not exist, used %+v", pid, used)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	host := NewReader().Host()
	if host.BusySeconds == nil || *host.BusySeconds <= 0 || host.StolenSeconds == nil {
		t.Errorf("the processors of this machine did %+v", host)
	}
	// Four signatures take more than ten microseconds, and less than a second.
	if took := host.WorkMicroseconds; took == nil || *took < 10 || *took > 1e6 {
		t.Errorf("a piece of work took %v", took)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	environment := NewReader().Environment(t.TempDir())
	if environment.OS != "linux" || environment.Kernel == "" || environment.CPUs < 1 || environment.MemoryBytes == nil ||
		environment.FileSystem == "" || environment.LoadAverage == nil {
		t.Errorf("this machine is %+v", environment)
	}
}

func TestFileSystem(t *testing.T) {
	t.Parallel()
	mounts := []*procfs.MountInfo{
		{MountPoint: "/", FSType: "ext4"},
		{MountPoint: "/var", FSType: "xfs"},
		{MountPoint: "/var/lib", FSType: "zfs"},
		// Mounted over the one before.
		{MountPoint: "/var/lib", FSType: "btrfs"},
	}
	for folder, want := range map[string]string{
		"/home/a": "ext4", "/var": "xfs", "/variant": "ext4", "/var/lib/a/b": "btrfs", "/": "ext4",
	} {
		if got := fileSystem(mounts, folder); got != want {
			t.Errorf("%s is on %s, want %s", folder, got, want)
		}
	}
}
