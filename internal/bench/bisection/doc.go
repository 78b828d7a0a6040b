// SPDX-License-Identifier: Apache-2.0

// Package bisection finds the build that made a chain worse, in a list of builds of
// which the first is good and the last is not.
//
// All builds are compared with the first one: what is worse than that stays worse as
// long as nobody mends it, so half of the list is ruled out by each comparison. Whoever
// compared neighbours alone would miss what comes in steps below the floor. The build
// that is found is then compared with the one before it, which tells a change of one
// build from one that came with several.
package bisection
