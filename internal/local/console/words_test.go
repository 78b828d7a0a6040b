// SPDX-License-Identifier: Apache-2.0

package console

import "testing"

func TestThousands(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64]string{
		0: "0", 12: "12", 999: "999", 1000: "1,000", 1234567: "1,234,567", -100: "-100", -1000: "-1,000",
	} {
		if got := Thousands(number); got != want {
			t.Errorf("%d is written %q, want %q", number, got, want)
		}
	}
}
