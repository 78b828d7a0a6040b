// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/proof"
)

// VerifiedAccount is an account as a finalised block commits to it, whatever node
// said so.
type VerifiedAccount struct {
	Account
	// Verified is the block that it was proven against.
	Verified proof.At `json:"verified"`
}

// UnprovenError is an answer that is not what its proof proves, or whose proof
// proves nothing: the node lies, or it is of another network.
type UnprovenError struct {
	// Node is where the node's HTTP API is.
	Node string
	// Subject is what it was asked about.
	Subject string
	// Cause is what is wrong; a proof.Error when that is the proof.
	Cause error
}

// Error says who said what, and why that is not believed.
func (e *UnprovenError) Error() string {
	return fmt.Sprintf("what %s says of %s is not true, or not of this network: %s", e.Node, e.Subject, e.Cause)
}

// Unwrap is the cause.
func (e *UnprovenError) Unwrap() error {
	return e.Cause
}

// accountProof is the answer of account_prove.
type accountProof struct {
	Account
	BlockHeight uint64 `json:"blockHeight"`
	BlockHash   string `json:"blockHash"`
	Proof       string `json:"proof"`
}

// VerifyAccount asks a node for an account and what proves it, and believes
// nothing else. The block that it is proven against has at least a height. The
// error is an UnprovenError when the node does not prove what it says.
func (c *Client) VerifyAccount(ctx context.Context, verifier *proof.Verifier, id account.ID, least uint64) (*VerifiedAccount, error) {
	var answer accountProof
	if err := c.call(ctx, "account_prove", map[string]string{"id": id.String()}, &answer); err != nil {
		return nil, err
	}
	verified, err := answer.verify(verifier, id, least)
	if err != nil {
		return nil, &UnprovenError{Node: c.base, Subject: "account " + id.String(), Cause: err}
	}
	return verified, nil
}

// verify is what the proof proves, which is what the answer has to say beside it.
func (a accountProof) verify(verifier *proof.Verifier, id account.ID, least uint64) (*VerifiedAccount, error) {
	content, err := hex.DecodeString(a.Proof)
	if err != nil {
		return nil, errors.New("its proof is not in hexadecimal")
	}
	proven, err := verifier.Account(id, content, least)
	if err != nil {
		return nil, err
	}
	want := accountProof{
		Account: Account{
			ID: id.String(), Shard: proven.Shard, Exists: proven.Exists, Balance: proven.Balance, Nonce: proven.Nonce,
			Height: proven.Height,
		},
		BlockHeight: proven.BlockHeight, BlockHash: proven.BlockHash, Proof: a.Proof,
	}
	if a != want {
		return nil, fmt.Errorf("it says %s, and its proof proves %s", a.words(), want.words())
	}
	return &VerifiedAccount{Account: want.Account, Verified: proven.At}, nil
}

// words are what an answer says beside its proof.
func (a accountProof) words() string {
	what := "no such account"
	if a.Exists {
		what = fmt.Sprintf("balance %d and nonce %d", a.Balance, a.Nonce)
	}
	return fmt.Sprintf("%s for %s of shard %d at height %d, by block %d with hash %s",
		what, a.ID, a.Shard, a.Height, a.BlockHeight, a.BlockHash)
}

// VerifiedOutcome is what became of a transfer, whatever node said so.
type VerifiedOutcome struct {
	Outcome
	// Verified is the block that it was proven against.
	Verified proof.At `json:"verified"`
}

// outcomeProof is the answer of transfer_prove.
type outcomeProof struct {
	Outcome
	BlockHeight uint64 `json:"blockHeight"`
	BlockHash   string `json:"blockHash"`
	Proof       string `json:"proof"`
}

// VerifyOutcome asks a node what became of a transfer and what proves it, and
// believes nothing else. The error is an UnprovenError when the node does not
// prove what it says.
func (c *Client) VerifyOutcome(ctx context.Context, verifier *proof.Verifier, hash string, signer account.ID) (*VerifiedOutcome, error) {
	var answer outcomeProof
	if err := c.call(ctx, "transfer_prove", map[string]string{"hash": hash, "signer": signer.String()}, &answer); err != nil {
		return nil, err
	}
	verified, err := answer.verify(verifier, hash, signer)
	if err != nil {
		return nil, &UnprovenError{Node: c.base, Subject: "transfer " + hash, Cause: err}
	}
	return verified, nil
}

// verify is what the proof proves, which is what the answer has to say beside it.
func (a outcomeProof) verify(verifier *proof.Verifier, hash string, signer account.ID) (*VerifiedOutcome, error) {
	transfer, err := hex.DecodeString(hash)
	if err != nil || len(transfer) != 32 {
		return nil, errors.New("the transfer's hash is not 64 hex digits")
	}
	content, err := hex.DecodeString(a.Proof)
	if err != nil {
		return nil, errors.New("its proof is not in hexadecimal")
	}
	proven, err := verifier.Outcome(signer, [32]byte(transfer), content)
	if err != nil {
		return nil, err
	}
	want := outcomeProof{
		Outcome:     Outcome{Status: OutcomeExecuted, Height: proven.Height, Reason: a.Reason},
		BlockHeight: proven.BlockHeight, BlockHash: proven.BlockHash, Proof: a.Proof,
	}
	if proven.Code != 0 {
		want.Status = OutcomeFailed
	}
	if a != want {
		return nil, fmt.Errorf("it says %s, and its proof proves %s", a.words(), want.words())
	}
	// Why it failed is proven as a code; the node's words for it are not.
	want.Reason = proven.Reason()
	return &VerifiedOutcome{Outcome: want.Outcome, Verified: proven.At}, nil
}

// words are what an answer says beside its proof.
func (a outcomeProof) words() string {
	return fmt.Sprintf("%s at height %d, by block %d with hash %s", a.Status, a.Height, a.BlockHeight, a.BlockHash)
}
