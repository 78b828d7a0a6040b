// SPDX-License-Identifier: Apache-2.0

// Package local runs a network as processes of this machine: the same manifest,
// plan and files as anywhere else, on free ports of the loopback interface. The rooms
// beneath it keep the processes (supervision), show them (page) and find them (running);
// here is what a run of them is: up, with what it carries, and a measurement.
package local
