// SPDX-License-Identifier: Apache-2.0

// Package policy says what a network's state means. It is pure: what was observed goes
// in, and conditions, with the words that tell people what to do, come out. Packages of
// their own hold what is observed, what is wrong with nodes, and which to replace.
package policy
