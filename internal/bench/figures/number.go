// SPDX-License-Identifier: Apache-2.0

package figures

import "strconv"

// Number writes a figure with as many digits as mean something.
func Number(value float64) string {
	switch size := max(value, -value); {
	case size >= 10_000:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 3, 64)
	}
}
