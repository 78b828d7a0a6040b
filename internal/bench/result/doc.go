// SPDX-License-Identifier: Apache-2.0

// Package result is what a benchmark leaves behind: one document that holds the
// experiment, where and with what it was made, the series that were recorded,
// the figures that follow from them, and the verdict.
//
// What is not known is absent and never zero.
package result
