// SPDX-License-Identifier: Apache-2.0

// Package running finds the networks that another program of this machine runs,
// and asks their nodes.
package running
