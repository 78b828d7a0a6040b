// SPDX-License-Identifier: Apache-2.0

// Package local runs a network as processes of this machine: the same manifest,
// plan and files as anywhere else, on free ports of the loopback interface.
package local
