// SPDX-License-Identifier: Apache-2.0

// Package statedir is the state directory: the folder of each network of this
// machine, what is kept there, and who has it.
//
// A network has a folder of its own below the state directory. It holds the
// genesis document, the manifest as it was applied last, and for each validator
// its configuration, secrets, data and log. A network whose folder exists is
// resumed.
package statedir
