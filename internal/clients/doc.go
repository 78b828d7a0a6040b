// SPDX-License-Identifier: Apache-2.0

// Package clients has the users of an open loop send what they send, one number of
// them after the other, and keeps what became of it. For each number, a loader runs
// from before their first transfer until nothing more becomes known: a process of
// whoever records the run, or one in another container of its pod, which is asked for
// over a socket in a folder that both see.
//
// There is one loader at a time. It says percentiles of latencies, and those of two
// do not add up.
package clients
