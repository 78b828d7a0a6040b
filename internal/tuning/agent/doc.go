// SPDX-License-Identifier: Apache-2.0

// Package agent sets the network stack of the machine that it runs on, keeps it
// so, and puts the old values back.
//
// Before it changes a value for the first time, it notes the old one in a
// journal, so that whoever runs next, after whatever end, knows it. An agent that
// ends leaves everything as it is: the next one, perhaps of another version, goes
// on with it, and one without settings puts the old values back. The journal is
// below /run, which a machine empties when it starts, as its kernel forgets what
// was set.
//
// The first agent of a NodeTuning on a machine changes nothing until it is asked
// for its report: the operator notes a machine before it asks, so that no machine
// is ever changed that the operator does not know to put back.
package agent
