// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"strings"
	"time"

	"github.com/prometheus/procfs/blockdevice"

	"github.com/shardyard/shardyard/internal/bench/record"
)

// flushFields is how many fields a kernel tells of a disk that counts its flushes, from
// Linux 5.5 on; its numbers and its name are the first three.
const flushFields = 20

// layered begin the names of devices that have the flushes done by others, which count
// them, and of those that are memory.
var layered = []string{"dm-", "loop", "md", "ram", "zram"}

// addFlushes adds how often all disks of the machine were flushed, and how long that took.
// Nothing is known if there is none, or one of them does not tell.
func addFlushes(host *record.Host, disks []blockdevice.Diskstats) {
	told := false
	var flushes uint64
	var took time.Duration
	for i := range disks {
		disk := &disks[i]
		if isLayered(disk.DeviceName) {
			continue
		}
		if disk.IoStatsCount < flushFields {
			return
		}
		told = true
		flushes += disk.FlushRequestsCompleted
		took += time.Duration(disk.TimeSpentFlushing) * time.Millisecond
	}
	if told {
		host.DiskFlushes, host.DiskFlushSeconds = &flushes, known(took.Seconds())
	}
}

func isLayered(device string) bool {
	for _, kind := range layered {
		if strings.HasPrefix(device, kind) {
			return true
		}
	}
	return false
}
