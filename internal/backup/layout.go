// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"path"
	"strings"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// Where a backup of a network has its files, with slashes.
const (
	// NetworkFile is the manifest that the network is run with, NodesFolder the folder of
	// what is of single nodes.
	NetworkFile = "manifest.yaml"
	NodesFolder = "nodes"

	// formatsMark is a file of a data directory that says the version of the rest, as the
	// node contract has it.
	formatsMark = ".formats"
)

// GenesisFile is the genesis document.
var GenesisFile = nodeconfig.DefaultFiles.Genesis

// KeyFile is the key of a node.
func KeyFile(node string) string {
	return path.Join(NodesFolder, node, nodeconfig.DefaultFiles.Key)
}

// TokenFile is the token of the admin API of a node.
func TokenFile(node string) string {
	return path.Join(NodesFolder, node, nodeconfig.DefaultFiles.AdminToken)
}

// DataFolder has what a node has on its disk.
func DataFolder(node string) string {
	return path.Join(NodesFolder, node, nodeconfig.DefaultFiles.Data)
}

// InData says where in the data of a node a file of a backup is; false for one that is not
// of it.
func InData(node, file string) (string, bool) {
	return strings.CutPrefix(file, DataFolder(node)+"/")
}

// DataOf is the node whose data a file of the backup is; empty for another file.
func (m *Manifest) DataOf(file string) string {
	for _, node := range m.Nodes {
		if _, ok := InData(node.Name, file); ok {
			return node.Name
		}
	}
	return ""
}
