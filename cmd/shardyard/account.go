// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/chain"
)

const accountLong = `Look up an account: its shard, its balance and the highest nonce that it has used,
as of a finalised block.

` + accountWords

func newAccountCommand() *cobra.Command {
	var flags nodeFlags
	var format string
	command := &cobra.Command{
		Use:     "account ACCOUNT",
		Short:   "Look up an account",
		Long:    accountLong,
		Example: "  shardyard account genesis/0",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			write, ok := accountFormats[format]
			if !ok {
				return fmt.Errorf("unknown output format %q: want text or json", format)
			}
			return lookUp(command.Context(), command.OutOrStdout(), &flags, args[0], write)
		},
		ValidArgsFunction: completeAccounts,
	}
	flags.add(command)
	addFormatFlag(command, &format, "text", "json")
	return command
}

func lookUp(ctx context.Context, out io.Writer, flags *nodeFlags, name string, write func(io.Writer, *chain.Account) error) error {
	node, err := flags.find(ctx)
	if err != nil {
		return err
	}
	defer node.Close()
	id, err := node.account(name)
	if err != nil {
		return err
	}
	found, err := node.Account(ctx, id.String())
	if err != nil {
		return err
	}
	return write(out, found)
}

var accountFormats = map[string]func(io.Writer, *chain.Account) error{
	"text": writeAccount,
	"json": func(out io.Writer, found *chain.Account) error { return json.NewEncoder(out).Encode(found) },
}

func writeAccount(out io.Writer, found *chain.Account) error {
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
	return table.Flush()
}
