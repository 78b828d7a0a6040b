// SPDX-License-Identifier: Apache-2.0

// Package pods says what pods are like by their status: whether they are ready, have
// ended, or why they do not run. It is pure.
package pods
