// SPDX-License-Identifier: Apache-2.0

// Package local_test runs networks on this machine from end to end: the command
// line, the node program, and what an impatient user or a crash does to them.
//
// The node program is the one that SHARDNODE names, or else bin/shardnode.
package local_test
