// SPDX-License-Identifier: Apache-2.0

// Package recording records networks that somebody else runs, and keeps the records
// of a benchmark's runs in a folder. The load is told by whoever runs the network, or
// by the recorder, beside which the controller of a closed loop runs, or sent by users
// that the recorder has send it.
//
// A recorder begins such a load on a network that has signed nothing yet, and ends it
// whatever happens. What the controller knows is in the recorder alone, so one that
// finds a load under way does not go on with it.
package recording
