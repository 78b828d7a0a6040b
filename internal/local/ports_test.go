// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"net"
	"testing"
)

// Ports are held, all different, and none of those that connections are given.
func TestHoldPorts(t *testing.T) {
	t.Parallel()
	ports, guards, err := holdPorts(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(releasePorts(ports), releasePorts(guards)); err != nil {
			t.Error(err)
		}
	})
	if len(ports) != 200 || len(guards) < 2 {
		t.Fatalf("%d ports are held, of %d blocks", len(ports), len(guards))
	}
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

// What a network lets go of for its nodes, no other network takes.
func TestPortsLetGoAreStillOfTheirNetwork(t *testing.T) {
	t.Parallel()
	ports, guards, err := holdPorts(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = releasePorts(guards) })
	if err := releasePorts(ports); err != nil {
		t.Fatal(err)
	}
	for range 2_000 {
		others, guards, err := holdPorts(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if others[0].address() == ports[0].address() {
			t.Errorf("another network has %s", others[0].address())
		}
		if err := errors.Join(releasePorts(others), releasePorts(guards)); err != nil {
			t.Fatal(err)
		}
	}
}
