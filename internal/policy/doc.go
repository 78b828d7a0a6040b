// SPDX-License-Identifier: Apache-2.0

// Package policy decides what a network's state means and what to do about it.
// It is pure: what was observed goes in, and conditions, with the words that
// tell people what to do, and decisions come out.
package policy
