// SPDX-License-Identifier: Apache-2.0

// Package usage reads what processes and the machine have used from /proc. What
// cannot be read is not known.
package usage

import (
	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/shardyard/shardyard/internal/bench/record"
)

// Reader reads /proc.
type Reader struct {
	// proc is nil where there is no /proc.
	proc *procfs.FS
	// disks is nil where nobody tells of them.
	disks *blockdevice.FS
	work  *work
}

// NewReader makes a reader of this machine.
func NewReader() Reader {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return Reader{}
	}
	reader := Reader{proc: &proc, work: newWork()}
	if disks, err := blockdevice.NewDefaultFS(); err == nil {
		reader.disks = &disks
	}
	return reader
}

// Process is what a process has used.
func (r Reader) Process(pid int) record.Usage {
	var usage record.Usage
	if r.proc == nil || pid == 0 {
		return usage
	}
	process, err := r.proc.Proc(pid)
	if err != nil {
		return usage
	}
	if stat, err := process.Stat(); err == nil {
		usage.CPUSeconds = known(stat.CPUTime())
	}
	// Kernels that do not tell the two apart leave both out.
	if status, err := process.NewStatus(); err == nil && status.RssAnon > 0 {
		usage.MemoryBytes = known(status.RssAnon)
		usage.FileMemoryBytes = known(status.RssFile + status.RssShmem)
	}
	if io, err := process.IO(); err == nil {
		usage.DiskReadBytes, usage.DiskWrittenBytes = known(io.ReadBytes), known(io.WriteBytes)
	}
	return usage
}

// Host is what the processors and the disks of the machine did, and how fast the
// processors are just now.
func (r Reader) Host() record.Host {
	if r.proc == nil {
		return record.Host{}
	}
	stat, err := r.proc.Stat()
	if err != nil {
		return record.Host{}
	}
	cpu := stat.CPUTotal
	host := record.Host{
		BusySeconds:      known(cpu.User + cpu.Nice + cpu.System + cpu.IRQ + cpu.SoftIRQ),
		StolenSeconds:    known(cpu.Steal),
		WorkMicroseconds: r.work.do(),
	}
	if r.disks != nil {
		if disks, err := r.disks.ProcDiskstats(); err == nil {
			addFlushes(&host, disks)
		}
	}
	return host
}

func known[Value any](value Value) *Value {
	return &value
}
