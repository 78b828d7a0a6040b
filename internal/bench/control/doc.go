// SPDX-License-Identifier: Apache-2.0

// Package control finds the rate of load that a chain carries, in either of two
// ways: by a closed loop around the whole network, and by a search.
//
// # The closed loop
//
// It looks at finalised blocks and at pools. A chain under more load than it
// carries shows it in three ways. Two are measured against what is allowed:
//
//   - blocks take longer: e = 1 - target / block time;
//   - chunks are missed: e = share of missed chunks / the allowed one - 1.
//
// The error is the larger of the two, between -1 and 1: negative while both are
// within what is allowed. The third is that transfers wait in the pools, for as many
// seconds as it takes to execute them. That is the sum of all that was too much, and
// bounds the rate: from half of what is allowed on, the rate is at most what
// is executed times e^(0.3 (1 - waiting/allowed)). The block time enters as its inverse, because a chain
// whose blocks take a fixed time and a time for each transfer makes
// 1/block time = (1 - rate/capacity)/fixed time: that is linear in the rate, and
// the rate is what the controller sets.
//
// Near the target the chain answers with a lag: what was too much in one block waits
// for the next and makes that longer, too. A change of ln(rate) by u makes
//
//	e(n+1) = (1 - 1/L) e(n) + (1 - 1/L) u,  L = target/fixed time
//
// n counting blocks: e settles at (L - 1) u, within about L blocks. The rate follows
// the error by a PI controller in its velocity form, on the logarithm of the rate,
//
//	d ln(rate) = -K (de + e dt/(L target)),  K = L/(L - 1) / (closing + delay)
//
// so that the same error changes a small and a large load by the same part, and
// there is no integral that could wind up while the rate is at a bound. K and L are
// those of S. Skogestad, Simple analytic rules for model reduction and PID controller
// tuning, Journal of Process Control 13 (2003), for a chain that answers after so
// many blocks of delay. There is no derivative: single blocks are early and late by
// more than what it would tell. The loop closes twice as fast as there, because on
// real machines a transfer takes longer in a larger block, and then blocks grow by
// themselves unless the loop is faster.
//
// The gain is scheduled: L is taken from the shortest block time that the chain has
// shown, which is 2.5 for blocks that take 0.6 s empty and 1.5 s when they should.
// A least block time hides how short that could be, and then the integral part is
// more than the chain bears, and the loop swings. So each time that the error goes
// from more than a fifth on one side to the other, L is taken to be twice as long, up
// to what the loop can tell from a chain that only sums up. And while blocks take
// that least time, they do not tell how far the rate is below what the chain feels:
// then it rises by at least a fiftieth with each target block time, and by a tenth
// while the chain executes less than four fifths of what it has carried lately, as
// after a standstill.
//
// A chain that feels its load is given no more than a tenth above what it executes:
// the rest would only wait, and make blocks longer when the load has long fallen. What
// it executed in the mean of about 20 target block times counts as well, because a
// machine that is late with one block carries no less from then on.
//
// What happens around it:
//
//   - At first, and after a standstill, the rate rises by a tenth with each target
//     block time that passes, until the chain feels it: Starting.
//   - While generators are too late for more than a fiftieth of what they should sign,
//     they are the limit and not the chain: the rate does not rise: Limited.
//   - When the chain executes less than half of what it was given a while before,
//     and misses a quarter of its chunks or has twice the allowed work in its pools,
//     it is about to fall over. Nothing is asked for until pools are down to half of
//     what is allowed and at most a tenth of the chunks is missed: Recovering. Then the
//     rate is half of what was executed, and is kept below nine tenths of where that
//     happened, a bound that rises by a hundredth with each target block time.
//   - While no block is finalised for three times the target, or three seconds if that
//     is more, nothing is asked for: Paused. It goes on with half of the rate of before.
//
// The rate is steady when, for 20 target block times, the means of its first and second
// half are within 3 hundredths of each other, and the mean error was within a tenth of
// none or the rate most of the time at its bound.
//
// # The search
//
// It holds one rate after the other, and finds the highest one that the chain
// carries without anybody's help. Each is judged by the second half of its step; it
// holds if
//
//   - generators are too late for at most a hundredth of it;
//   - at most a hundredth of the chunks are missed;
//   - at least 98 hundredths of it are executed, by the timestamps of blocks;
//   - no more waits in the pools at the end than in the middle, but for 3 hundredths
//     of it, and for what is offered in one block time: a sample may be of just
//     before a block. A chain that stood still at the end shows there alone.
//
// A rate is given up before that when what is offered in half a step waits.
//
// From the first rate on, rates are doubled until one does not hold, or halved until
// one does; then the geometric mean of the highest that holds and the lowest that
// does not is tried, until these are as close as they should be: Trying. After a rate
// that does not hold, nothing is offered until the pools are empty, so that the next
// one is judged by itself: Draining. What is found is then offered, or as much of it
// as is to be measured: Found. If not even one transfer a second holds, there is
// nothing to offer: Nothing.
//
// Close to the capacity of a chain, block times take long to become what they will
// be, and a rate holds only once they are. So what a search finds is a rate for steps
// of that length: longer ones find more.
//
// # Nodes that do not answer
//
// A chain with too much load is late with its answers just when they matter. A node that
// does not answer has in its pool what it said last, for half a minute; one that is
// silent for longer is taken to have ended, and what waited there to be gone.
package control
