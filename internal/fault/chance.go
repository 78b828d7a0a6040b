// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// mostChance is how probable a rise may be by chance alone that is still taken for
// one.
const mostChance = 0.001

// risen says whether a share is higher than it was before, by more than chance.
func risen(before, now share) bool {
	return now.count > 0 && chance(before, now) <= mostChance
}

// chance is how probable it is that at least as many of what is counted in both
// times together are of the second one, if it is all the same: the one-sided exact
// test of Fisher.
func chance(before, now share) float64 {
	all, counted := before.of+now.of, before.count+now.count
	logAll := combin.LogGeneralizedBinomial(float64(all), float64(counted))
	sum := 0.0
	for count := now.count; count <= min(counted, now.of); count++ {
		if counted-count > before.of {
			continue
		}
		sum += math.Exp(combin.LogGeneralizedBinomial(float64(now.of), float64(count)) +
			combin.LogGeneralizedBinomial(float64(before.of), float64(counted-count)) - logAll)
	}
	return min(sum, 1)
}

// fewer says whether events are less frequent than they were before, by a quarter or
// more and by more than chance.
func fewer(before, now int, beforeDuration, nowDuration time.Duration) bool {
	return muchFewer(before, now, beforeDuration, nowDuration) && rarely(before, now, beforeDuration, nowDuration) <= mostChance
}

// muchFewer says whether events are less frequent than they were before, by a quarter
// or more: of 4 that were to be expected, at most 3.
func muchFewer(before, now int, beforeDuration, nowDuration time.Duration) bool {
	if beforeDuration <= 0 || nowDuration <= 0 {
		return false
	}
	return 4*float64(now) <= 3*float64(before)*float64(nowDuration)/float64(beforeDuration)
}

// rarely is how probable it is that at most as many events of both times together are
// of the second one, if each is at any time as likely as at any other. What is more
// regular than that, as blocks are, is less probable still.
func rarely(before, now int, beforeDuration, nowDuration time.Duration) float64 {
	part := float64(nowDuration) / float64(nowDuration+beforeDuration)
	return distuv.Binomial{N: float64(before + now), P: part}.CDF(float64(now))
}
