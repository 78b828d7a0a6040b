// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// looksPerRetention is how often a network is looked at while it makes as many
	// blocks as it keeps.
	looksPerRetention = 8
	// moreFilesPercent, moreDiskPercent and moreMemoryPercent are how much more a
	// validator may have at most in the third retention than in the second one.
	moreFilesPercent  = 10
	moreDiskPercent   = 10
	moreMemoryPercent = 20
)

// TestRetention has a network make three times as many blocks as it keeps, which
// RETENTION says, as fast as it may. From the second time on, no validator has more
// files open, or more memory or disk. Then validators that lose their disks come
// back, although nobody has the first blocks any more.
func TestRetention(t *testing.T) {
	if os.Getenv("RETENTION") == "" {
		t.Skip("RETENTION is not set: make retention sets it")
	}
	kept := uint64(number(t, "RETENTION", 0)) //nolint:gosec // some thousands
	network := up(t, t.TempDir(), "-f", keeping(t, kept))
	network.nodes = 5
	network.says(t, "load: 100 transfers per second")
	observer := watch(t, network)
	var most [3]holdings
	for period := range most {
		for look := range uint64(looksPerRetention) {
			height := kept*uint64(period) + kept*(look+1)/looksPerRetention //nolint:gosec // 0 to 2
			observer.reaches(t, height)
			now := observer.holdings(t)
			t.Logf("at %d: %s", height, now)
			most[period] = most[period].larger(now)
		}
	}
	t.Logf("at most: %s; then %s; then %s", most[0], most[1], most[2])
	for _, figure := range []struct {
		name         string
		before, then uint64
		percent      uint64
	}{
		{"open files", most[1].files, most[2].files, moreFilesPercent},
		{"KiB on disk", most[1].diskKiB, most[2].diskKiB, moreDiskPercent},
		{"KiB of memory", most[1].residentKiB, most[2].residentKiB, moreMemoryPercent},
	} {
		if figure.then*100 > figure.before*(100+figure.percent) {
			t.Errorf("%s: %d, after %d", figure.name, figure.then, figure.before)
		}
	}

	if _, err := observer.clients[0].Block(t.Context(), 1); !errors.As(err, new(*chain.RPCError)) {
		t.Errorf("asked for block 1, a validator tells %v", err)
	}
	const producer, chunkValidator = 1, 4
	for _, victim := range []int{chunkValidator, producer} {
		observer.startOver(t, victim)
	}
}

// keeping writes a small network with blocks every 50 ms of which it keeps so many.
func keeping(t *testing.T, blocks uint64) string {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, `
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata: {name: small}
spec:
  shards: 2
  producersPerShard: 2
  chunkValidators: 1
  regions: [{name: local, nodes: 5}]
  genesis: {accountsPerShard: 100}
  protocol: {minBlockTimeMilliseconds: 50}
  node: {storage: {snapshotIntervalBlocks: %d, retentionBlocks: %d}}
  placement: {exclusivity: Shared}
  load: {profile: Constant, constant: {transfersPerSecond: 100}}
`, blocks/looksPerRetention, blocks), 0o600); err != nil {
		t.Fatal(err)
	}
	return manifest
}

// holdings are the most that a validator has.
type holdings struct {
	files, diskKiB, residentKiB uint64
}

func (h holdings) String() string {
	return fmt.Sprintf("%d open files, %d KiB on disk, %d KiB of memory", h.files, h.diskKiB, h.residentKiB)
}

func (h holdings) larger(other holdings) holdings {
	return holdings{max(h.files, other.files), max(h.diskKiB, other.diskKiB), max(h.residentKiB, other.residentKiB)}
}

// reaches waits until the validators have finalised a height.
func (o *observer) reaches(t *testing.T, height uint64) {
	t.Helper()
	o.eventually(t, fmt.Sprintf("block %d is final", height), func(statuses []*chain.Status) bool {
		for _, status := range statuses {
			if status == nil || status.FinalizedHeight < height {
				return false
			}
		}
		return true
	})
}

func (o *observer) holdings(t *testing.T) holdings {
	t.Helper()
	var most holdings
	for _, validator := range o.validators {
		files, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(validator.PID), "fd"))
		if err != nil {
			t.Fatal(err)
		}
		most = most.larger(holdings{uint64(len(files)), diskKiB(t, o.dataOf(validator)), residentKiB(t, validator.PID)})
	}
	return most
}

// diskKiB is the size of the files in a folder of a program that runs.
func diskKiB(t *testing.T, folder string) uint64 {
	t.Helper()
	var bytes int64
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return uint64(bytes) / 1024 //nolint:gosec // a size
}
