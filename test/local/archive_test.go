// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
)

// The nodes of testdata/archive.yaml, in the order of its plan.
const (
	archiveShards    = 4
	archiveRetention = 120
	otherProducer    = 0
	emptiedShard     = 1
	archiveNode      = 8
)

// emptied are the producers of a shard that lose their disks.
var emptied = [...]int{2, 3}

// TestArchive takes away what all producers of a shard have on their disks, under
// load, when the first bodies are no longer kept. They come back to the state roots
// that the chain commits to by way of the archive's state, and the shard goes on.
func TestArchive(t *testing.T) {
	t.Parallel()
	network := up(t, t.TempDir(), "-f", "testdata/archive.yaml")
	network.nodes = 9
	network.says(t, "load: 200 transfers per second")
	o := watch(t, network)
	o.eventually(t, "the first bodies are not kept any more, and the archive has all states", func(statuses []*chain.Status) bool {
		status, archive := statuses[otherProducer], statuses[archiveNode]
		return status != nil && status.FinalizedHeight > heightsPerFile+archiveRetention+3*snapshotInterval &&
			archive != nil && archive.Archive != nil && archive.Archive.UsableShards == archiveShards
	})
	emptyDisks(t, o)
	awaitReturn(t, o, lossOf(t, o))

	network.signal(t, os.Interrupt)
	summary := network.summary(t)
	if !summary.SupplyConserved || summary.Executed == 0 || summary.Archives != 1 || summary.Validators != 8 ||
		summary.StatesArchived == nil {
		t.Errorf("the summary is %+v", summary)
	}
}

// emptyDisks has all producers of a shard start again with nothing on their disks.
func emptyDisks(t *testing.T, o *observer) {
	t.Helper()
	for _, victim := range emptied {
		o.takeDisk(t, victim)
	}
	for _, victim := range emptied {
		if err := syscall.Kill(o.validators[victim].PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

// lossOf is the height of the last chunk that the shard had when its producers were killed,
// or a later one. How long the chain goes on without the shard is up to how soon they have
// a state again.
func lossOf(t *testing.T, o *observer) (lost uint64) {
	t.Helper()
	o.eventually(t, "a producer of another shard answers", func(statuses []*chain.Status) bool {
		status := statuses[otherProducer]
		if status == nil {
			return false
		}
		lost = status.Shards[emptiedShard].ChunkHeight
		return true
	})
	return lost
}

// awaitReturn waits until the shard has chunks again, of producers with the states that
// headers confirm, which fetched one.
func awaitReturn(t *testing.T, o *observer, lost uint64) {
	t.Helper()
	o.eventually(t, "the shard has chunks again, and its producers their states", func(statuses []*chain.Status) bool {
		for _, victim := range emptied {
			status := statuses[victim]
			if status == nil || status.Syncing != nil || o.audit.Confirmed(status.Node) <= lost+snapshotInterval {
				return false
			}
		}
		return statuses[otherProducer] != nil && statuses[otherProducer].Shards[emptiedShard].ChunkHeight > lost+snapshotInterval
	})
	for _, victim := range emptied {
		if got := o.snapshotsInstalled(t, victim); got == "0" {
			t.Errorf("%s installed %q snapshots, want some", o.validators[victim].Name, got)
		}
	}
}
