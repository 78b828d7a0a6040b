// SPDX-License-Identifier: Apache-2.0

// Package statistics says how sure a figure is.
//
// A figure is computed from the rows of one run or of several. The rows of a run
// follow each other in time and depend on each other, and runs differ from each
// other as wholes. So an interval comes from a block bootstrap whose blocks are
// the runs, which differ by all that there is; of a single run, they are
// stretches of its consecutive rows.
//
// It is pure: what is drawn follows from a seed.
package statistics
