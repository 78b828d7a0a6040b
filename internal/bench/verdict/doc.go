// SPDX-License-Identifier: Apache-2.0

// Package verdict decides what a benchmark came to, and says why in words.
package verdict
