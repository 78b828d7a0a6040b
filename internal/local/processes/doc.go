// SPDX-License-Identifier: Apache-2.0

// Package processes starts programs that write to a log and end with this
// program, however that ends.
package processes
