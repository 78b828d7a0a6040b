// SPDX-License-Identifier: Apache-2.0

// Package networks has networks for tests, as they are seen: healthy ones, what goes
// wrong with their nodes, and the words of others about it.
package networks
