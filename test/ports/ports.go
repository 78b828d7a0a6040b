// SPDX-License-Identifier: Apache-2.0

// Package ports finds addresses for servers of tests that take an address, and not a
// listener.
package ports

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Ports are taken from below those that kernels give to connections, and below those that
// networks of this machine have: whoever dials or starts one meanwhile takes none of them.
const lowest, highest = 4_000, 9_999

// Free is an address of this machine that nothing listens on. Another test may take it: who
// is told that it is in use asks for another one.
func Free(t *testing.T) string {
	t.Helper()
	for {
		port := lowest + rand.IntN(highest-lowest+1) //nolint:gosec // No secret.
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		return listener.Addr().String()
	}
}
