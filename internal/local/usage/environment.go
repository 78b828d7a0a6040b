// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Environment is this machine; folder is where the nodes keep their data.
func (r Reader) Environment(folder string) result.Environment {
	environment := result.Environment{OS: runtime.GOOS, Architecture: runtime.GOARCH, CPUs: runtime.NumCPU()}
	if r.proc == nil {
		return environment
	}
	if release, err := os.ReadFile(filepath.Join(procfs.DefaultMountPoint, "sys", "kernel", "osrelease")); err == nil {
		environment.Kernel = string(bytes.TrimSpace(release))
	}
	environment.CPUModel = r.processor()
	if memory, err := r.proc.Meminfo(); err == nil {
		environment.MemoryBytes = memory.MemTotalBytes
	}
	if load, err := r.proc.LoadAvg(); err == nil {
		environment.LoadAverage = &load.Load1
	}
	if mounts, err := procfs.GetMounts(); err == nil {
		environment.FileSystem = fileSystem(mounts, folder)
	}
	return environment
}

// fileSystem is the type of the mount that a folder is below, the innermost.
func fileSystem(mounts []*procfs.MountInfo, folder string) string {
	var point, kind string
	for _, mount := range mounts {
		inside := folder == mount.MountPoint || strings.HasPrefix(folder, strings.TrimSuffix(mount.MountPoint, "/")+"/")
		if inside && len(mount.MountPoint) >= len(point) {
			point, kind = mount.MountPoint, mount.FSType
		}
	}
	return kind
}
