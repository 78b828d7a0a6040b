// SPDX-License-Identifier: Apache-2.0

// Package condition makes conditions, of whatever kind has them. It is pure.
package condition
