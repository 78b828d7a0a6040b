// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"context"
	"net/http"
)

// accountOf is an account, as the newest finalised block commits to it.
func accountOf(ctx context.Context, r *http.Request, from node) (any, error) {
	id, err := parseHash("account", r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	account, err := from.Account(ctx, id)
	if err != nil {
		return nil, told(err)
	}
	return account, nil
}

// outcome is what became of a transaction.
func outcome(ctx context.Context, r *http.Request, from node) (any, error) {
	hash, err := parseHash("hash", r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	signer, err := parseHash("signer", r.URL.Query().Get("signer"))
	if err != nil {
		return nil, err
	}
	outcome, err := from.TransferOutcome(ctx, hash, signer)
	if err != nil {
		return nil, told(err)
	}
	return outcome, nil
}
