// SPDX-License-Identifier: Apache-2.0

// Package loading has the producers of a network sign its load: what a schedule
// says, or what the controller of a closed loop asks for. It is for whoever runs
// beside the load and sees it through, not for an operator that looks in from time
// to time.
package loading
