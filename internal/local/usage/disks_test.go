// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"testing"

	"github.com/prometheus/procfs/blockdevice"

	"github.com/shardyard/shardyard/internal/bench/record"
)

// disk is what a kernel tells of a disk.
func disk(name string, fields int, flushes, milliseconds uint64) blockdevice.Diskstats {
	return blockdevice.Diskstats{
		Info:         blockdevice.Info{DeviceName: name},
		IOStats:      blockdevice.IOStats{FlushRequestsCompleted: flushes, TimeSpentFlushing: milliseconds},
		IoStatsCount: fields,
	}
}

func TestFlushes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disks   []blockdevice.Diskstats
		known   bool
		flushes uint64
		seconds float64
	}{
		"two disks and a partition": {
			[]blockdevice.Diskstats{disk("vda", 20, 3, 40), disk("vda1", 20, 0, 0), disk("nvme0n1", 20, 4, 1500)}, true, 7, 1.54,
		},
		// What a logical volume flushes, the disk below it does.
		"layers":            {[]blockdevice.Diskstats{disk("sda", 20, 3, 40), disk("dm-0", 20, 3, 41), disk("loop7", 20, 9, 9)}, true, 3, 0.04},
		"an old kernel":     {[]blockdevice.Diskstats{disk("sda", 18, 0, 0)}, false, 0, 0},
		"memory alone":      {[]blockdevice.Diskstats{disk("zram0", 20, 0, 0), disk("ram0", 20, 0, 0)}, false, 0, 0},
		"nothing of a disk": {nil, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var host record.Host
			addFlushes(&host, test.disks)
			if known := host.DiskFlushes != nil && host.DiskFlushSeconds != nil; known != test.known {
				t.Fatalf("the disks did %+v, want something to be known: %v", host, test.known)
			}
			if test.known && (*host.DiskFlushes != test.flushes || *host.DiskFlushSeconds != test.seconds) {
				t.Errorf("%d flushes took %v s, want %d and %v s", *host.DiskFlushes, *host.DiskFlushSeconds, test.flushes, test.seconds)
			}
		})
	}
}
