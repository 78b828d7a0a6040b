// SPDX-License-Identifier: Apache-2.0

// Package figures makes the figures of a benchmark from the records of its runs:
// what each is, in which unit, and how sure.
package figures
