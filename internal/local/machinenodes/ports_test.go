// SPDX-License-Identifier: Apache-2.0

package machinenodes

import (
	"errors"
	"net"
	"testing"
)

// Ports are held, all different, and none of those that connections are given.
func TestHoldPorts(t *testing.T) {
	t.Parallel()
	ports, guards, err := HoldPorts(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(ReleasePorts(ports), ReleasePorts(guards)); err != nil {
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
			t.Fatalf("%s is held", held.Address())
		}
		if seen[address.Port] {
			t.Errorf("%s is held twice", held.Address())
		}
		seen[address.Port] = true
		if _, err := holdPort(t.Context(), address.Port); err == nil {
			t.Errorf("%s is held, and taken once more", held.Address())
		}
	}
}

// What a network lets go of for its nodes, no other network takes.
func TestPortsLetGoAreStillOfTheirNetwork(t *testing.T) {
	t.Parallel()
	ports, guards, err := HoldPorts(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ReleasePorts(guards) })
	if err := ReleasePorts(ports); err != nil {
		t.Fatal(err)
	}
	for range 2_000 {
		others, guards, err := HoldPorts(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if others[0].Address() == ports[0].Address() {
			t.Errorf("another network has %s", others[0].Address())
		}
		if err := errors.Join(ReleasePorts(others), ReleasePorts(guards)); err != nil {
			t.Fatal(err)
		}
	}
}

// Ports are different from each other and nobody else gets them while they are
// held.
func TestPorts(t *testing.T) {
	t.Parallel()
	ports, guards, err := HoldPorts(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	var listen net.ListenConfig
	addresses := map[string]bool{}
	for _, port := range ports {
		addresses[port.Address()] = true
		if listener, err := listen.Listen(t.Context(), "tcp", port.Address()); err == nil {
			_ = listener.Close()
			t.Errorf("%s is held and yet free", port.Address())
		}
	}
	if len(addresses) != 8 {
		t.Errorf("the addresses are %v, want 8", addresses)
	}
	release := func(held []Port) {
		t.Helper()
		// Twice, as when a validator is started again.
		if err := errors.Join(ReleasePorts(held), ReleasePorts(held)); err != nil {
			t.Fatal(err)
		}
	}
	// Another network may take the ports once nobody holds the guards.
	t.Cleanup(func() { release(guards) })
	release(ports)
	listener, err := listen.Listen(t.Context(), "tcp", ports[0].Address())
	if err != nil {
		t.Fatalf("%s was released: %v", ports[0].Address(), err)
	}
	_ = listener.Close()
}
