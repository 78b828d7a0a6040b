// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Admin says where a node serves its admin API, who the node is, and what opens
// the API. The zero value is no admin API.
type Admin struct {
	// Address is HOST:PORT.
	Address string
	// PublicKey is the one by which the node is known: in the genesis document, or among
	// the peers if it is no validator.
	PublicKey ed25519.PublicKey
	// Token is sent to nobody but the holder of the key.
	Token string
}

// errNoAdmin is what admin requests come to with a client that was told of no
// admin API.
var errNoAdmin = errors.New("the admin API of the node is not known")

func (a Admin) base() string {
	return (&url.URL{Scheme: "https", Host: a.Address}).String()
}

// client speaks with the node that has the key, and nobody else.
func (a Admin) client() *http.Client {
	return newHTTPClient(&http.Transport{
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS13,
			// What is skipped asks who vouches for a name. The key is known
			// beforehand, so nobody has to: TLS has the server prove at every
			// handshake that it holds the key of its certificate, and verify that
			// this is the right one. What else the certificate says does not matter.
			InsecureSkipVerify: true,
			VerifyConnection:   a.verify,
		},
		TLSHandshakeTimeout: requestTimeout,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     time.Minute,
	})
}

// verify refuses everybody but the holder of the node's key.
func (a Admin) verify(state tls.ConnectionState) error {
	if a.PublicKey == nil {
		return fmt.Errorf("the key of the node at %s is not known", a.Address)
	}
	if count := len(state.PeerCertificates); count != 1 {
		return fmt.Errorf("the node at %s shows %d certificates, want one", a.Address, count)
	}
	shown, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || !shown.Equal(a.PublicKey) {
		return fmt.Errorf("the node at %s has another key than it is known by", a.Address)
	}
	return nil
}
