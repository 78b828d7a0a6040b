// SPDX-License-Identifier: Apache-2.0

package console

import "strconv"

// Thousands writes a number with a comma before each group of three digits.
func Thousands[N int | int32 | int64 | uint64](number N) string {
	digits := strconv.FormatInt(int64(number), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural writes a count with its noun.
func Plural[N int | int32 | int64 | uint64](count N, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return Thousands(count) + " " + noun + "s"
}
