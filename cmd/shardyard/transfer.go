// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/proof"
)

// outcomeInterval is how often a node is asked what became of a transfer.
const outcomeInterval = 100 * time.Millisecond

// expiryMargin is how many blocks after the expiry of a transfer a node that is
// behind may still not know that a chunk took it.
const expiryMargin = 10

// unavailable is the code of a node that got no answer of those who would know.
const unavailable = -32003

const transferLong = `Send a transfer and wait until a finalised block has it.

` + accountWords + `

The key of an account that is none of genesis is in a file of 64 hex digits: the
seed of an ed25519 key. Its id is what the chain knows it by, and shardyard account
looks it up.

What became of it is proven by a final block, where the genesis document is at hand, as
for shardyard account.

No transfer moves less than spec.protocol.leastBalance of the network, by default 10.
A transfer expires after some blocks, so that what became of it is known at the end
even if no chunk takes it. Nonces of an account must rise: while a load pays from the
same account, either may be refused.`

// transferOptions say what to send.
type transferOptions struct {
	node         nodeFlags
	verify       verifyFlags
	from         string
	keyFile      string
	to           string
	amount       uint64
	expiresAfter uint64
	timeout      time.Duration
}

func newTransferCommand() *cobra.Command {
	var options transferOptions
	var format string
	command := &cobra.Command{
		Use:     "transfer --from ACCOUNT --to ACCOUNT --amount UNITS",
		Short:   "Send a transfer and wait until a finalised block has it",
		Long:    transferLong,
		Example: "  shardyard transfer --from genesis/0 --to genesis/1 --amount 500",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			write, ok := transferFormats[format]
			if !ok {
				return fmt.Errorf("unknown output format %q: want text or json", format)
			}
			return runTransfer(command, &options, write)
		},
	}
	options.node.add(command)
	options.verify.add(command)
	flags := command.Flags()
	flags.StringVar(&options.from, "from", "", "genesis account that pays, genesis/INDEX")
	flags.StringVar(&options.keyFile, "key", "", "file with the key of the account that pays")
	flags.StringVar(&options.to, "to", "", "account that is paid")
	flags.Uint64Var(&options.amount, "amount", 0, "how much, in base units")
	flags.Uint64Var(&options.expiresAfter, "expires-after-blocks", 200, "blocks after which no chunk takes the transfer any more")
	flags.DurationVar(&options.timeout, "timeout", 2*time.Minute, "how long to wait")
	addFormatFlag(command, &format, "text", "json")
	command.MarkFlagsMutuallyExclusive("from", "key")
	command.MarkFlagsOneRequired("from", "key")
	for _, name := range []string{"to", "amount"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

// receipt is what became of a transfer.
type receipt struct {
	Hash   string              `json:"hash"`
	From   string              `json:"from"`
	To     string              `json:"to"`
	Amount uint64              `json:"amount"`
	Nonce  uint64              `json:"nonce"`
	Status chain.OutcomeStatus `json:"status"`
	Height uint64              `json:"height"`
	Reason string              `json:"reason,omitempty"`
	// Verified is the block that it is proven by; nil if the node is believed.
	Verified *proof.At `json:"verified"`

	// signed is what is submitted, and expiresAt the first height whose chunk does not
	// execute it.
	signed    account.Transaction
	expiresAt uint64
	// unanswered is why nobody knows whether the node took it; nil if it did.
	unanswered error
}

// came is what a transfer came to.
func (r *receipt) came() string {
	if r.Status == chain.OutcomeFailed {
		return fmt.Sprintf("failed at height %d: %s", r.Height, r.Reason)
	}
	return fmt.Sprintf("was executed at height %d", r.Height)
}

var transferFormats = map[string]func(io.Writer, *receipt) error{
	"text": func(out io.Writer, sent *receipt) error {
		_, err := fmt.Fprintf(out, "transfer %s %s\nverified: %s\n", sent.Hash, sent.came(), verifiedWords(sent.Verified))
		return err
	},
	"json": func(out io.Writer, sent *receipt) error { return json.NewEncoder(out).Encode(sent) },
}

func runTransfer(command *cobra.Command, options *transferOptions, write func(io.Writer, *receipt) error) error {
	if options.expiresAfter == 0 {
		return errors.New("--expires-after-blocks must be at least 1")
	}
	if options.timeout <= 0 {
		return fmt.Errorf("--timeout must be positive, is %s", options.timeout)
	}
	ctx, cancel := context.WithTimeoutCause(command.Context(), options.timeout,
		fmt.Errorf("it is not known what became of the transfer after %s", options.timeout))
	defer cancel()
	node, err := options.node.find(ctx)
	if err != nil {
		return err
	}
	defer node.Close()
	verifier, err := options.verify.verifier(command, node)
	if err != nil {
		return err
	}
	sent, err := node.sign(ctx, options)
	if err != nil {
		return err
	}
	if err := node.submit(ctx, sent); err != nil {
		return err
	}
	if err := node.await(ctx, sent); err != nil {
		return err
	}
	if verifier != nil {
		if err := node.prove(ctx, verifier, sent); err != nil {
			return fmt.Errorf("transfer %s: the node says that it %s, and did not prove it, so that another one may pay twice: %w",
				sent.Hash, sent.came(), err)
		}
	}
	if sent.Status == chain.OutcomeFailed {
		return fmt.Errorf("transfer %s %s", sent.Hash, sent.came())
	}
	return write(command.OutOrStdout(), sent)
}

// sign signs a transfer with the next nonce of who pays. Nobody has it yet.
func (n *node) sign(ctx context.Context, options *transferOptions) (*receipt, error) {
	key, err := n.payer(options)
	if err != nil {
		return nil, err
	}
	to, err := n.account(options.to)
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	from := account.Of(key)
	payer, err := n.Account(ctx, from.String())
	if err != nil {
		return nil, err
	}
	if !payer.Exists {
		return nil, fmt.Errorf("the chain has no account %s", from)
	}
	transfer := account.Transfer{
		Receiver: to, Amount: options.amount, Nonce: payer.Nonce + 1, ExpiresAt: n.status.FinalizedHeight + options.expiresAfter,
	}
	signed := transfer.Sign(key, account.Chain{Network: n.status.Network, GenesisHash: n.status.GenesisHash})
	return &receipt{
		Hash: signed.Hash(), From: from.String(), To: to.String(), Amount: options.amount,
		Nonce: transfer.Nonce, Status: chain.OutcomeUnknown, signed: signed, expiresAt: transfer.ExpiresAt,
	}, nil
}

// submit submits a transfer. Without an error, the node took it or may have taken it;
// with a chain.RPCError, it did not.
func (n *node) submit(ctx context.Context, sent *receipt) error {
	hash, err := n.SubmitTransfer(ctx, sent.signed.String())
	refusal, refused := errors.AsType[*chain.RPCError](err)
	switch {
	case refused && refusal.Code != unavailable:
		return err
	case err != nil:
		// The answer may be all that was lost, here or between nodes, and whoever sends
		// another one pays twice.
		sent.unanswered = err
	case hash != sent.Hash:
		return fmt.Errorf("the node took transfer %s, and %s was sent", hash, sent.Hash)
	}
	return nil
}

// neverExecuted says whether it is known that a transfer was not executed and will not be:
// it has expired, and nobody has used its nonce. An account that is gone may have paid
// with all that it had.
func (n *node) neverExecuted(ctx context.Context, sent *receipt) bool {
	payer, err := n.Account(ctx, sent.From)
	return err == nil && payer.Exists && payer.Height >= sent.expiresAt && payer.Nonce < sent.Nonce
}

// payer is the key of who pays.
func (n *node) payer(options *transferOptions) (keys.Key, error) {
	if options.keyFile == "" {
		key, err := n.genesisKey(options.from)
		if err != nil {
			return keys.Key{}, fmt.Errorf("--from: %w", err)
		}
		return key, nil
	}
	content, err := os.ReadFile(options.keyFile)
	if err != nil {
		return keys.Key{}, fmt.Errorf("--key: %w", err)
	}
	key, err := keys.Parse(content)
	if err != nil {
		return keys.Key{}, fmt.Errorf("--key: %s: %w", options.keyFile, err)
	}
	return key, nil
}

// await waits until it is known what became of a transfer: from a finalised
// block, or because none can have it any more.
func (n *node) await(ctx context.Context, sent *receipt) error {
	retry := time.NewTicker(outcomeInterval)
	defer retry.Stop()
	// What came of asking the node last, unless the time was over meanwhile.
	var (
		failed error
		knows  string
	)
	for {
		// What is final is asked first: what was executed up to there is known then.
		status, statusErr := n.Status(ctx)
		outcome, err := n.TransferOutcome(ctx, sent.Hash, sent.From)
		switch {
		case err == nil && outcome.Status != chain.OutcomeUnknown:
			sent.Status, sent.Height, sent.Reason = outcome.Status, outcome.Height, outcome.Reason
			return nil
		case err == nil && statusErr == nil && executed(status, sent.expiresAt+expiryMargin):
			return fmt.Errorf("transfer %s expired at height %d: no chunk took it%s", sent.Hash, sent.expiresAt, n.knowing(outcome, status))
		case err == nil && outcome.Reason == chain.ReasonNonce:
			return fmt.Errorf("transfer %s: no chunk can execute it: its signer has used its nonce, or a higher one", sent.Hash)
		case ctx.Err() != nil:
		case err != nil || statusErr != nil:
			failed = errors.Join(err, statusErr)
		default:
			failed, knows = nil, n.knowing(outcome, status)
		}
		select {
		case <-ctx.Done():
			if failed = errors.Join(sent.unanswered, failed); failed != nil {
				return fmt.Errorf("transfer %s: %w: %w", sent.Hash, context.Cause(ctx), failed)
			}
			return fmt.Errorf("transfer %s: %w%s", sent.Hash, context.Cause(ctx), knows)
		case <-retry.C:
		}
	}
}

// prove has the node prove what became of a transfer, which it is asked for until it answers.
func (n *node) prove(ctx context.Context, verifier *proof.Verifier, sent *receipt) error {
	retry := time.NewTicker(outcomeInterval)
	defer retry.Stop()
	// What came of asking last, unless the time was over meanwhile.
	var failed error
	for {
		err := n.verifyOutcome(ctx, verifier, sent)
		if err == nil || answered(err) {
			return err
		}
		if ctx.Err() == nil {
			failed = err
		}
		select {
		case <-ctx.Done():
			return cmp.Or(failed, err)
		case <-retry.C:
		}
	}
}

// answered says whether an error of a question for a proof is what the node answers, and
// will answer again.
func answered(err error) bool {
	if refused, ok := errors.AsType[*chain.RPCError](err); ok {
		return refused.Code != unavailable
	}
	_, unproven := errors.AsType[*chain.UnprovenError](err)
	return unproven
}

// knowing is what the node says of a transfer that no chunk has, or that it was started
// again since it was found.
func (n *node) knowing(outcome *chain.Outcome, now *chain.Status) string {
	switch outcome.Reason {
	case chain.ReasonPending:
		return "; the node still hands it to producers"
	case "", chain.ReasonExpired:
	default:
		return "; a pool that had it let go of it: " + outcome.Reason
	}
	if before := n.status.StartedHeight; before != 0 && now.StartedHeight != before {
		return "; the node was started again since it took it, and may have lost it"
	}
	return ""
}

// executed says whether every shard has executed a height.
func executed(status *chain.Status, height uint64) bool {
	for _, shard := range status.Shards {
		if shard.ExecutedHeight < height {
			return false
		}
	}
	return len(status.Shards) > 0
}
