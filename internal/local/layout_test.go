// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
)

// A backup, also one of a cluster, has its files where a network of this machine has them.
func TestBackupsAreLaidOutAsNetworks(t *testing.T) {
	t.Parallel()
	dir := networkDir("folder")
	node := dir.node("net-s0-p0")
	for want, path := range map[string]string{
		backup.NetworkFile:             dir.manifest(),
		backup.GenesisFile:             dir.genesis(),
		backup.KeyFile("net-s0-p0"):    node.key(),
		backup.TokenFile("net-s0-p0"):  node.adminToken(),
		backup.DataFolder("net-s0-p0"): node.data(),
	} {
		if got := dir.relative(path); got != want {
			t.Errorf("the network has %s, and the backup %s", got, want)
		}
	}
}
