// SPDX-License-Identifier: Apache-2.0

// Package fault decides which step a Fault takes next, and says what became of it. It is
// pure: what was observed goes in, and a task and a status come out.
package fault
