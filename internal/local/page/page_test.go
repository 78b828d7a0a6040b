// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/test/waiting"
)

// A page that cannot be served any more says so at once.
func TestPageWithoutItsAddress(t *testing.T) {
	t.Parallel()
	page, err := Listen(t.Context(), Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- page.answer(t.Context(), http.NotFoundHandler()) }()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(waiting.Patience):
		t.Error("it is still served")
	}
}

// An address that was chosen is the one or none; else any will do.
func TestPageAddressIsTaken(t *testing.T) {
	t.Parallel()
	first, err := Listen(t.Context(), Options{Address: Auto})
	if err != nil {
		t.Fatal(err)
	}
	defer first.listener.Close()
	second, err := Listen(t.Context(), Options{Address: Auto})
	if err != nil {
		t.Fatal(err)
	}
	defer second.listener.Close()

	taken := first.listener.Addr().String()
	_, err = Listen(t.Context(), Options{Address: taken})
	if err == nil || !strings.HasPrefix(err.Error(), "serve the page: listen tcp "+taken+": ") {
		t.Errorf("a taken address has the error %v", err)
	}
}

func TestNoPage(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", Off} {
		if page, err := Listen(t.Context(), Options{Address: address}); page != nil || err != nil {
			t.Errorf("the address %q has the page %v (%v)", address, page, err)
		}
	}
}
