// SPDX-License-Identifier: Apache-2.0

// Package traces keeps the spans of a network's newest traced blocks in memory,
// and answers what each of these blocks waited for and what the nodes did for it
// meanwhile.
package traces
