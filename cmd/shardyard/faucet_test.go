// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"
)

// A faucet that cannot serve any more ends, and says why.
func TestFaucetWithoutItsAddress(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- serveFaucet(t.Context(), &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}, listener)
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it still serves")
	}
}
