// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/proof"
)

// methodNotFound is the code of an error of nodes that do not know a method.
const methodNotFound = -32601

// maxAge is how old the block may be that an answer is proven against. A chain
// whose blocks take seconds stays far below.
const maxAge = time.Minute

// verifyFlags say what is believed of a node.
type verifyFlags struct {
	verify  bool
	genesis string
	maxAge  time.Duration
}

func (f *verifyFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&f.verify, "verify", true, "check what the node says by the genesis document, where that is at hand")
	flags.StringVar(&f.genesis, "genesis", "", "file with the genesis document of the network of --node")
}

// addAge adds the flag of answers that later blocks may change.
func (f *verifyFlags) addAge(command *cobra.Command) {
	command.Flags().DurationVar(&f.maxAge, "max-age", maxAge,
		"how old the block may be that proves it, by the clock of this machine; 0 for any age")
}

// check says what is wrong with the flags, of a node whose genesis document is at hand or is
// not.
func (f *verifyFlags) check(command *cobra.Command, atHand bool) error {
	documented := atHand || f.genesis != ""
	aged, asked := command.Flags().Changed("max-age"), command.Flags().Changed("verify")
	switch {
	case !f.verify && f.genesis != "":
		return errors.New("--genesis goes with --verify")
	case f.maxAge < 0:
		return errors.New("--max-age must be at least 0")
	case !f.verify && aged:
		return errors.New("--max-age goes with --verify")
	case atHand && f.genesis != "":
		return errors.New("--genesis goes with --node: the document of a network of this machine is at hand")
	case f.verify && asked && !documented:
		return errors.New("--verify needs the genesis document: name its file with --genesis")
	case aged && !documented:
		return errors.New("--max-age needs the genesis document: name its file with --genesis")
	default:
		return nil
	}
}

// verifier is what checks the node's answers; nil if nothing does.
func (f *verifyFlags) verifier(command *cobra.Command, node *node) (*proof.Verifier, error) {
	document := node.genesis
	if err := f.check(command, document != nil); err != nil {
		return nil, err
	}
	if f.genesis != "" {
		content, err := os.ReadFile(f.genesis)
		if err != nil {
			return nil, fmt.Errorf("--genesis: %w", err)
		}
		document = content
	}
	if !f.verify || document == nil {
		return nil, nil
	}
	verifier, err := proof.New(document)
	if err != nil {
		return nil, err
	}
	if got, want := node.status.GenesisHash, verifier.GenesisHash(); got != want {
		return nil, fmt.Errorf("the node says that its genesis document has the hash %s, this one has %s", got, want)
	}
	return verifier, nil
}

// verifiedAccount is an account that the node proves.
func (n *node) verifiedAccount(
	ctx context.Context, verifier *proof.Verifier, id account.ID, maxAge time.Duration,
) (*chain.VerifiedAccount, error) {
	found, err := n.VerifyAccount(ctx, verifier, id, 0)
	if err != nil {
		return nil, provesNothing(err)
	}
	if age := ageOf(found.Verified); maxAge > 0 && age > maxAge {
		return nil, fmt.Errorf("block %d, the newest that the node proves account %s by, is %s old, more than --max-age: "+
			"the chain stands still, the node is behind or hides what came after, or a clock is wrong",
			found.Verified.BlockHeight, id, age.Round(time.Second))
	}
	return found, nil
}

// verifyOutcome asks the node once to prove what became of a transfer.
func (n *node) verifyOutcome(ctx context.Context, verifier *proof.Verifier, sent *receipt) error {
	signer, err := account.ParseID(sent.From)
	if err != nil {
		return err
	}
	proven, err := n.VerifyOutcome(ctx, verifier, sent.Hash, signer)
	if err != nil {
		return err
	}
	sent.Status, sent.Height, sent.Reason = proven.Status, proven.Height, proven.Reason
	sent.Verified = &proven.Verified
	return nil
}

// provesNothing says what to do about a node of a version that proves nothing.
func provesNothing(err error) error {
	if refused, ok := errors.AsType[*chain.RPCError](err); ok && refused.Code == methodNotFound {
		return fmt.Errorf("the node proves nothing, --verify=false believes it: %w", err)
	}
	return err
}

// ageOf is how long ago a block was made, by the clock of its leader and that of
// this machine.
func ageOf(at proof.At) time.Duration {
	return time.Since(time.UnixMilli(int64(at.BlockTimeMs)))
}
