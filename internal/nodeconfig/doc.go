// SPDX-License-Identifier: Apache-2.0

// Package nodeconfig turns a plan into the files that nodes read: the genesis
// document of the network and the configuration of each validator, as the node
// contract describes them. It is pure, and secrets are none of its business: it
// sees the public parts of keys and the paths of secret files.
//
// Networks are taken as the API server stores them, with defaults filled in.
package nodeconfig
