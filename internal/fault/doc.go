// SPDX-License-Identifier: Apache-2.0

// Package fault says which validators a fault is of, and judges from what was seen
// of their network whether the fault reached them, whether the chain felt it, and
// whether everything was as before when it was over. It is pure: what was seen goes
// in, and conditions with their words come out.
//
// # How it is judged
//
// What a chain feels is counted: so many of so many turns were missed before the
// fault, and so many while it lasted. The chain felt the fault by a measure if the
// share has risen, and chance alone would have it rise as much in less than one of
// a thousand such comparisons (Fisher's exact test, one-sided). That a validator
// does not answer is judged in the same way. A chain that is slow or stands still
// has few blocks in which anything could be counted, so how many there are is a
// measure of its own: they are fewer if they are so by a quarter, and by chance in
// less than one of a thousand such comparisons of events that are as likely at any
// time.
//
// What else happens to the machines of a network in the time of a fault cannot be
// told from the fault.
package fault
