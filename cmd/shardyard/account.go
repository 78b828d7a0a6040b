// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/proof"
)

const accountLong = `Look up an account: its shard, its balance and the highest nonce that it has used,
as of a finalised block.

What the node says is checked where the genesis document is at hand: that of a network
of this machine is, and --genesis names that of another one. The node proves it by a
block that more than two thirds of the network's producers have made final; a node
that does not is an error. Without the document the node is believed, and the answer
says so.

` + accountWords

func newAccountCommand() *cobra.Command {
	var options accountOptions
	var format string
	command := &cobra.Command{
		Use:     "account ACCOUNT",
		Short:   "Look up an account",
		Long:    accountLong,
		Example: "  shardyard account genesis/0\n  shardyard account genesis/0 --node http://localhost:8080 --genesis genesis.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			write, ok := accountFormats[format]
			if !ok {
				return fmt.Errorf("unknown output format %q: want text or json", format)
			}
			found, err := lookUp(command, &options, args[0])
			if err != nil {
				return err
			}
			return write(command.OutOrStdout(), found)
		},
		ValidArgsFunction: completeAccounts,
	}
	options.node.add(command)
	options.verify.add(command)
	options.verify.addAge(command)
	addFormatFlag(command, &format, "text", "json")
	return command
}

// accountOptions say whom to ask, and what to believe.
type accountOptions struct {
	node   nodeFlags
	verify verifyFlags
}

// lookedUp is an account, and the block that it is proven by; nil if the node is
// believed.
type lookedUp struct {
	*chain.Account

	Verified *proof.At `json:"verified"`
}

func lookUp(command *cobra.Command, options *accountOptions, name string) (*lookedUp, error) {
	ctx := command.Context()
	node, err := options.node.find(ctx)
	if err != nil {
		return nil, err
	}
	defer node.Close()
	id, err := node.account(name)
	if err != nil {
		return nil, err
	}
	verifier, err := options.verify.verifier(command, node)
	if err != nil {
		return nil, err
	}
	if verifier == nil {
		found, err := node.Account(ctx, id.String())
		if err != nil {
			return nil, err
		}
		return &lookedUp{Account: found}, nil
	}
	found, err := node.verifiedAccount(ctx, verifier, id, options.verify.maxAge)
	if err != nil {
		return nil, err
	}
	return &lookedUp{&found.Account, &found.Verified}, nil
}

var accountFormats = map[string]func(io.Writer, *lookedUp) error{
	"text": writeAccount,
	"json": func(out io.Writer, found *lookedUp) error { return json.NewEncoder(out).Encode(found) },
}

func writeAccount(out io.Writer, found *lookedUp) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "account\t%s\n", found.ID)
	fmt.Fprintf(table, "shard\t%d\n", found.Shard)
	if found.Exists {
		fmt.Fprintf(table, "balance\t%d\n", found.Balance)
		fmt.Fprintf(table, "nonce\t%d\n", found.Nonce)
	} else {
		fmt.Fprintln(table, "balance\tnone: the chain has no such account")
	}
	fmt.Fprintf(table, "height\t%d\n", found.Height)
	fmt.Fprintf(table, "verified\t%s\n", verifiedWords(found.Verified))
	return table.Flush()
}

// verifiedWords say what an answer rests on.
func verifiedWords(at *proof.At) string {
	if at == nil {
		return "no: the node is believed"
	}
	return fmt.Sprintf("by block %d (%s), final by %d of %d votes, %s old",
		at.BlockHeight, at.BlockHash, at.Votes, at.Voters, max(ageOf(*at), 0).Round(100*time.Millisecond))
}
