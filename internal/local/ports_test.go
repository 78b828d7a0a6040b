// SPDX-License-Identifier: Apache-2.0

package local

import (
	"net"
	"testing"
)

// Ports are held, all different, and none of those that connections are given.
func TestHoldPorts(t *testing.T) {
	t.Parallel()
	ports, err := holdPorts(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := releasePorts(ports); err != nil {
			t.Error(err)
		}
	})
	seen := map[int]bool{}
	for _, held := range ports {
		address, ok := held.listener.Addr().(*net.TCPAddr)
		if !ok || address.Port < lowestPort || address.Port > highestPort {
			t.Fatalf("%s is held", held.address())
		}
		if seen[address.Port] {
			t.Errorf("%s is held twice", held.address())
		}
		seen[address.Port] = true
		if _, err := holdPort(t.Context(), address.Port); err == nil {
			t.Errorf("%s is held, and taken once more", held.address())
		}
	}
}
