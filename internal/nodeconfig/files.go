// SPDX-License-Identifier: Apache-2.0

package nodeconfig

// ConfigFile is the usual name of a node's configuration file.
const ConfigFile = "config.json"

// Files are the paths that a configuration names. Relative ones are relative to
// the folder of the configuration file.
type Files struct {
	// Genesis is the genesis document.
	Genesis string
	// Peers are the addresses of all nodes.
	Peers string
	// Key is the secret key of the node.
	Key string
	// AdminToken is the bearer token of the admin API.
	AdminToken string
	// Data is the folder of the node's durable state.
	Data string
}

// DefaultFiles are the usual names, all beside the configuration file.
var DefaultFiles = Files{
	Genesis:    "genesis.json",
	Peers:      "peers.json",
	Key:        "validator.key",
	AdminToken: "admin.token",
	Data:       "data",
}
