// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
)

// Whoever is not the holder of the key gets no request, and so no token.
func TestTokenIsForTheHolderOfTheKeyAlone(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	node, stranger := signer(t, key), signer(t, newKey(t))
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		config *tls.Config
		want   string
	}{
		"the node": {&tls.Config{Certificates: []tls.Certificate{certify(t, node, node)}}, ""},
		"another key": {
			&tls.Config{Certificates: []tls.Certificate{certify(t, stranger, stranger)}},
			"has another key than it is known by",
		},
		"a key of another kind": {
			&tls.Config{Certificates: []tls.Certificate{certify(t, other, other)}},
			"has another key than it is known by",
		},
		"the node's certificate without its key": {
			&tls.Config{Certificates: []tls.Certificate{{
				Certificate: certify(t, node, node).Certificate, PrivateKey: stranger,
			}}},
			"invalid signature",
		},
		"the node's key, vouched for by another": {
			&tls.Config{Certificates: []tls.Certificate{{
				Certificate: append(certify(t, node, stranger).Certificate, certify(t, stranger, stranger).Certificate...),
				PrivateKey:  node,
			}}},
			"shows 2 certificates, want one",
		},
		"TLS 1.2": {
			&tls.Config{Certificates: []tls.Certificate{certify(t, node, node)}, MaxVersion: tls.VersionTLS12},
			"protocol version not supported",
		},
		"no TLS": {nil, "server gave HTTP response to HTTPS client"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if test.config != nil {
				listener = tls.NewListener(listener, test.config)
			}
			var requests atomic.Int32
			address := serve(t, listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				answer(http.StatusOK, `{"transfersPerSecond": 1}`)(w, r)
			}))
			client := chain.NewClient("127.0.0.1:1", chain.Admin{Address: address, PublicKey: key.Public(), Token: adminToken})
			t.Cleanup(client.Close)
			_, err = client.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 1})
			if test.want == "" {
				if err != nil || requests.Load() != 1 {
					t.Errorf("the node gets %d requests (%v), want one", requests.Load(), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
			if requests.Load() != 0 {
				t.Error("it gets the request")
			}
		})
	}
}

// A node of which no key is known gets no request either, and is not said to have another.
func TestTokenIsForNobodyWithoutAKey(t *testing.T) {
	t.Parallel()
	node := signer(t, newKey(t))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certify(t, node, node)}})
	address := serve(t, listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it gets the request") }))
	client := chain.NewClient("127.0.0.1:1", chain.Admin{Address: address, Token: adminToken})
	t.Cleanup(client.Close)
	want := "the key of the node at " + address + " is not known"
	if err := client.EndLinkFault(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want it to say %q", err, want)
	}
}

// A client that knows no key asks nobody.
func TestNoAdminAPI(t *testing.T) {
	t.Parallel()
	client := chain.NewClient("127.0.0.1:1", chain.Admin{})
	if _, err := client.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "the admin API of the node is not known") {
		t.Errorf("the error is %v", err)
	}
}

func signer(t *testing.T, key keys.Key) crypto.Signer {
	t.Helper()
	seed, err := hex.DecodeString(string(key.File()))
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

// certify makes a certificate of a key, signed by an issuer.
func certify(t *testing.T, key, issuer crypto.Signer) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	content, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), issuer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}
}
