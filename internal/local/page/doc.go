// SPDX-License-Identifier: Apache-2.0

// Package page serves what happens on a network of this machine to a browser: the page
// itself, the metrics that it draws, and how the validators are.
package page
