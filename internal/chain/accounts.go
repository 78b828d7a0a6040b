// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
)

// Account is an account after the execution of a chunk in a finalised block.
type Account struct {
	ID string `json:"id"`
	// Shard is the one that the id belongs to.
	Shard int `json:"shard"`
	// Exists is false for an account that the shard's state does not have.
	Exists  bool   `json:"exists"`
	Balance uint64 `json:"balance"`
	// Nonce is the highest that the account has used.
	Nonce uint64 `json:"nonce"`
	// Height is that of the chunk.
	Height uint64 `json:"height"`
}

// Account asks a node for an account, by its id in hexadecimal.
func (c *Client) Account(ctx context.Context, id string) (*Account, error) {
	var account Account
	if err := c.call(ctx, "account_get", map[string]string{"id": id}, &account); err != nil {
		return nil, err
	}
	return &account, nil
}

// SubmitTransfer gives a node a signed transaction, in hexadecimal, and returns
// the hash by which the chain knows it. A pool has taken it then, and no more.
func (c *Client) SubmitTransfer(ctx context.Context, transaction string) (hash string, err error) {
	var submitted struct {
		Hash string `json:"hash"`
	}
	if err := c.call(ctx, "transfer_submit", map[string]string{"transaction": transaction}, &submitted); err != nil {
		return "", err
	}
	return submitted.Hash, nil
}

// OutcomeStatus is what became of a transaction.
type OutcomeStatus string

const (
	// OutcomeExecuted is for a transaction that was executed.
	OutcomeExecuted OutcomeStatus = "Executed"
	// OutcomeFailed is for one that a chunk has, and that changed nothing but its
	// signer's nonce and fee.
	OutcomeFailed OutcomeStatus = "Failed"
	// OutcomeUnknown is for one that no chunk has which the node still knows.
	OutcomeUnknown OutcomeStatus = "Unknown"
)

// ReasonPending is the reason of an unknown outcome where the node keeps the
// transaction and hands it to one producer after the other. Any other is that of a
// refusal: a pool let go of the transaction, or no producer takes it any more.
const ReasonPending = "pending"

// ReasonNonce is the reason of an unknown outcome where a pool let go of the transaction
// because its signer has used its nonce, or a higher one.
const ReasonNonce = "nonce"

// ReasonExpired is the reason of an unknown outcome where the node passed the transaction
// on until it expired.
const ReasonExpired = "expired"

// Outcome is what became of a transaction, in a finalised block.
type Outcome struct {
	Status OutcomeStatus `json:"status"`
	// Height is that of the block, unless the outcome is unknown.
	Height uint64 `json:"height"`
	// Reason is why it failed, or what the node knows of it nevertheless.
	Reason string `json:"reason"`
}

// TransferOutcome asks a node what became of a transaction, by its hash and the
// account that signed it, both in hexadecimal.
func (c *Client) TransferOutcome(ctx context.Context, hash, signer string) (*Outcome, error) {
	var outcome Outcome
	if err := c.call(ctx, "transfer_outcome", map[string]string{"hash": hash, "signer": signer}, &outcome); err != nil {
		return nil, err
	}
	return &outcome, nil
}
