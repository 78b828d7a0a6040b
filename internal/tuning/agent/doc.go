// SPDX-License-Identifier: Apache-2.0

// Package agent sets the network stack of the machine that it runs on, keeps it
// so, and puts the old values back.
//
// Before it changes a value for the first time, it notes the old one in a
// journal, so that whoever runs next, after whatever end, puts that one back.
// The journal is below /run, which a machine empties when it starts, as its
// kernel forgets what was set.
package agent
