// SPDX-License-Identifier: Apache-2.0

// Package standin serves the node contract for validators whose pods are said
// to run but do not, as on fake machines, so that an operator can be tested
// with more nodes than a machine can run. It serves what an operator asks for:
// health, readiness, status, load and blocks. There is no chain behind it: heights
// follow the clock, and every transfer of the load succeeds.
//
// The pods' addresses must be this machine's own, such as those below
// 127.0.0.0/8.
package standin
