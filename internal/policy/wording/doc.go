// SPDX-License-Identifier: Apache-2.0

// Package wording makes names, numbers, times and the words of others fit into sentences
// that people read. It is pure.
package wording
