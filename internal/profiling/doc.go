// SPDX-License-Identifier: Apache-2.0

// Package profiling takes profiles of nodes, over their admin API, and shows them: as
// files of pprof, and as flame graphs that a browser opens by itself.
package profiling
