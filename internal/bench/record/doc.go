// SPDX-License-Identifier: Apache-2.0

// Package record makes the record of one run from what its nodes and its
// machine tell, as they tell it.
package record
