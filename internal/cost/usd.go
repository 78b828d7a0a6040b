// SPDX-License-Identifier: Apache-2.0

package cost

import "strconv"

// USD is an amount of money. It is written in cents.
type USD float64

// String is the amount in dollars and cents, without a sign of the currency.
func (u USD) String() string {
	return strconv.FormatFloat(float64(u), 'f', 2, 64)
}

// MarshalJSON writes the amount as a number.
func (u USD) MarshalJSON() ([]byte, error) {
	return []byte(u.String()), nil
}
