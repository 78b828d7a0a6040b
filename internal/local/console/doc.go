// SPDX-License-Identifier: Apache-2.0

// Package console says what happens on this machine, line by line: lines that
// stay, a live line, the ends of logs, and numbers and counts in words.
package console
