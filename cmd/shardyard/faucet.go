// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/faucet"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

const (
	// faucetConnections bound who is connected to a faucet at a time.
	faucetConnections = 64
	// faucetReadTimeout bounds how long a request may take to arrive.
	faucetReadTimeout = 10 * time.Second
	// faucetExpiry is how many blocks a payment has for a chunk to take it.
	faucetExpiry = 200
	// faucetPatience is how long a payment may take.
	faucetPatience = 2 * time.Minute
)

const faucetLong = `Pay whoever asks for an account some base units, over HTTP, until interrupted.

  curl -d '{"account": "ID"}' http://localhost:9700

pays the account, and answers when a final block says so. The same address in a browser
is a page with a field for the account. An account, and who asks from one address, is
paid once in a time, and all together so many times an hour.

` + accountWords + `

Nothing else may pay from the account of the faucet: nonces of an account must rise.
What it has should be worth nothing.`

// faucetOptions say who pays, how much, and whom.
type faucetOptions struct {
	payment transferOptions
	listen  string
	limits  faucet.Limits
}

func newFaucetCommand() *cobra.Command {
	var options faucetOptions
	command := &cobra.Command{
		Use:     "faucet --from ACCOUNT --amount UNITS",
		Short:   "Pay whoever asks some base units, over HTTP",
		Long:    faucetLong,
		Example: "  shardyard faucet --from genesis/7 --amount 1000",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return runFaucet(command, &options) },
	}
	options.payment.node.add(command)
	flags := command.Flags()
	flags.StringVar(&options.payment.from, "from", "", "genesis account that pays, genesis/INDEX")
	flags.StringVar(&options.payment.keyFile, "key", "", "file with the key of the account that pays")
	flags.Uint64Var(&options.payment.amount, "amount", 0, "how much a payment is, in base units")
	flags.StringVar(&options.listen, "listen", "127.0.0.1:9700", "address to serve at")
	flags.DurationVar(&options.limits.Every, "every", 10*time.Minute, "how long an account, and an address that asks, is paid once in")
	flags.IntVar(&options.limits.PerHour, "per-hour", 1000, "payments in an hour, at most")
	command.MarkFlagsMutuallyExclusive("from", "key")
	command.MarkFlagsOneRequired("from", "key")
	if err := command.MarkFlagRequired("amount"); err != nil {
		panic(err)
	}
	return command
}

func runFaucet(command *cobra.Command, options *faucetOptions) error {
	if options.limits.Every < 0 || options.limits.PerHour < 1 {
		return errors.New("--every must not be negative, and --per-hour at least 1")
	}
	options.payment.expiresAfter = faucetExpiry
	ctx := command.Context()
	if err := options.check(ctx); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", options.listen)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(command.ErrOrStderr(), nil))
	server := &http.Server{
		Handler:      faucet.New(options.pay, options.limits, log),
		ReadTimeout:  faucetReadTimeout,
		WriteTimeout: faucetReadTimeout + 2*faucetPatience,
	}
	if _, err := fmt.Fprintf(command.OutOrStdout(), "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveFaucet(ctx, server, listener)
}

// serveFaucet serves until the context is done.
func serveFaucet(ctx context.Context, server *http.Server, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(netutil.LimitListener(listener, faucetConnections)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// check finds out whether there is anybody who can pay.
func (o *faucetOptions) check(ctx context.Context) error {
	node, err := o.payment.node.find(ctx)
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.moves(o.payment.amount); err != nil {
		return err
	}
	key, err := node.payer(&o.payment)
	if err != nil {
		return err
	}
	payer, err := node.Account(ctx, account.Of(key).String())
	if err != nil {
		return err
	}
	if payer.Balance < o.payment.amount {
		return fmt.Errorf("account %s has %d: less than a payment", payer.ID, payer.Balance)
	}
	return nil
}

// moves says whether a transfer may move so much, where the genesis document is at hand.
func (n *node) moves(amount uint64) error {
	if n.genesis == nil {
		return nil
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal(n.genesis, &genesis); err != nil {
		return fmt.Errorf("read the genesis document: %w", err)
	}
	if least := genesis.Protocol.LeastBalance; least > 0 && amount < uint64(least) {
		return fmt.Errorf("--amount must be at least %d, the least that a transfer of this network moves, is %d", least, amount)
	}
	return nil
}

// pay pays an account, by a node that answers.
func (o *faucetOptions) pay(ctx context.Context, to account.ID) (*faucet.Payment, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, faucetPatience,
		fmt.Errorf("it is not known what became of the payment after %s", faucetPatience))
	defer cancel()
	node, err := o.payment.node.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", faucet.ErrNotPaid, err)
	}
	defer node.Close()
	payment := o.payment
	payment.to = to.String()
	sent, err := node.sign(ctx, &payment)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", faucet.ErrNotPaid, err)
	}
	if err := node.submit(ctx, sent); err != nil {
		// A node that answers with an error has not taken the payment.
		if _, refused := errors.AsType[*chain.RPCError](err); refused {
			err = fmt.Errorf("%w: %w", faucet.ErrNotPaid, err)
		}
		return nil, err
	}
	if err := node.await(ctx, sent); err != nil {
		// Nodes forget what became of transfers, and a nonce that was used may have been
		// used by this one: only the account itself tells.
		if node.neverExecuted(ctx, sent) {
			err = fmt.Errorf("%w: %w", faucet.ErrNotPaid, err)
		}
		return nil, err
	}
	if sent.Status == chain.OutcomeFailed {
		return nil, fmt.Errorf("%w: transfer %s failed at height %d: %s", faucet.ErrNotPaid, sent.Hash, sent.Height, sent.Reason)
	}
	return &faucet.Payment{Hash: sent.Hash, Account: sent.To, Amount: sent.Amount, Height: sent.Height}, nil
}
