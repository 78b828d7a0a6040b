// SPDX-License-Identifier: Apache-2.0

package machinenodes

import "testing"

func TestWorkerThreads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cores, validators int
		want              int32
	}{{1, 4, 1}, {2, 4, 2}, {2, 1, 2}, {16, 4, 4}, {64, 140, 2}, {192, 4, 48}} {
		if got := workerThreads(test.cores, test.validators); got != test.want {
			t.Errorf("%d cores for %d validators are %d threads each, want %d", test.cores, test.validators, got, test.want)
		}
	}
}
