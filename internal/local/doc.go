// SPDX-License-Identifier: Apache-2.0

// Package local runs a network as processes of this machine: the same manifest,
// plan and files as anywhere else, on free ports of the loopback interface.
//
// A network has a folder of its own below the state directory. It holds the
// genesis document, the manifest as it was applied last, and for each validator
// its configuration, secrets, data and log. A network whose folder exists is
// resumed.
package local
