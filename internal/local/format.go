// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"
	"strconv"
)

// thousands writes a number with a comma before each group of three digits.
func thousands[N int | int32 | int64 | uint64](number N) string {
	digits := strconv.FormatInt(int64(number), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// tenths rounds to one decimal.
func tenths(number float64) float64 {
	return math.Round(number*10) / 10
}

// plural writes a count with its noun.
func plural[N int | int32 | int64 | uint64](count N, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return thousands(count) + " " + noun + "s"
}
