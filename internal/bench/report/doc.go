// SPDX-License-Identifier: Apache-2.0

// Package report shows the results of benchmarks: as text, and as pages that open
// by themselves, without a network and without a server.
//
// The charts are drawn by uPlot. Its files are in assets, as its package of
// version 1.6.32 has them.
package report
