// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
)

// A backup, also one of a cluster, has its files where a network of this machine has them.
func TestBackupsAreLaidOutAsNetworks(t *testing.T) {
	t.Parallel()
	dir := NetworkDir("folder")
	node := dir.Node("net-s0-p0")
	for want, path := range map[string]string{
		backup.NetworkFile:             dir.Manifest(),
		backup.GenesisFile:             dir.Genesis(),
		backup.KeyFile("net-s0-p0"):    node.Key(),
		backup.TokenFile("net-s0-p0"):  node.AdminToken(),
		backup.DataFolder("net-s0-p0"): node.Data(),
	} {
		if got := dir.Relative(path); got != want {
			t.Errorf("the network has %s, and the backup %s", got, want)
		}
	}
}
