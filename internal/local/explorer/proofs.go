// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"net/http"

	"github.com/shardyard/shardyard/internal/account"
)

// proveAccount is an account that the node proves.
func (c Chain) proveAccount(ctx context.Context, r *http.Request, from node) (any, error) {
	id, err := account.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, invalid("account", r.PathValue("id"))
	}
	verified, err := from.VerifyAccount(ctx, c.Verifier, id, 0)
	if err != nil {
		return nil, told(err)
	}
	return verified, nil
}

// proveOutcome is what became of a transaction, which the node proves.
func (c Chain) proveOutcome(ctx context.Context, r *http.Request, from node) (any, error) {
	hash, err := parseHash("hash", r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	signer, err := account.ParseID(r.URL.Query().Get("signer"))
	if err != nil {
		return nil, invalid("signer", r.URL.Query().Get("signer"))
	}
	verified, err := from.VerifyOutcome(ctx, c.Verifier, hash, signer)
	if err != nil {
		return nil, told(err)
	}
	return verified, nil
}
