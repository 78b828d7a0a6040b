// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/local/running"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// genesisPrefix begins the name of a genesis account, which ends with its index.
const genesisPrefix = "genesis/"

// defaultSeed is that of networks whose manifest names none.
const defaultSeed = "shardyard"

// accountWords say how accounts are named.
const accountWords = `An account is its id, 64 hex digits, or genesis/INDEX for the account of the genesis
document with that index. Genesis accounts are derived from the seed of the network,
which everybody knows: they are for tests, and not for value.

The network is one that runs on this machine, the only one or that of --network, or
that of the node at --node.`

// nodeFlags say which node of which network a command talks to.
type nodeFlags struct {
	node     string
	network  string
	stateDir string
	seed     string
}

func (f *nodeFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.node, "node", "", "address of a node's HTTP API, as http://HOST:PORT or HOST:PORT")
	flags.StringVar(&f.seed, "seed", "", "spec.genesis.seed of the network of --node, for its genesis accounts (default "+defaultSeed+")")
	addNetworkFlags(command, &f.network, &f.stateDir)
	command.MarkFlagsMutuallyExclusive("node", "network")
	command.MarkFlagsMutuallyExclusive("node", "state-dir")
}

// addStateDirFlag adds the flag that names the folder of networks, and completes it.
func addStateDirFlag(command *cobra.Command, stateDir *string) {
	command.Flags().StringVar(stateDir, "state-dir", "",
		"folder that networks of this machine are kept in (default $XDG_STATE_HOME/shardyard or ~/.local/state/shardyard)")
	if err := command.MarkFlagDirname("state-dir"); err != nil {
		panic(err)
	}
}

// addNetworkFlags adds the flags that name a network of this machine.
func addNetworkFlags(command *cobra.Command, network, stateDir *string) {
	command.Flags().StringVar(network, "network", "", "network of this machine (default the only one that runs)")
	addStateDirFlag(command, stateDir)
	completeNetworks(command, stateDir)
}

// node is a node that answers, and what it answers of the chain.
type node struct {
	*chain.Client

	status *chain.Status
	// seed is what the genesis accounts of its network are derived from.
	seed string
	// genesis is the genesis document of a network of this machine.
	genesis []byte
}

// find finds a node that answers.
func (f *nodeFlags) find(ctx context.Context) (*node, error) {
	running, err := f.running()
	if err != nil {
		return nil, err
	}
	var refusals []error
	for _, address := range running.Nodes {
		client := chain.NewClient(address, chain.Admin{})
		status, err := client.Status(ctx)
		if err == nil {
			return &node{client, status, running.Seed, running.Genesis}, nil
		}
		client.Close()
		refusals = append(refusals, err)
	}
	return nil, fmt.Errorf("no node answers: %w", errors.Join(refusals...))
}

// running is the network that is named. Of that of a node anywhere there is no
// genesis document.
func (f *nodeFlags) running() (*running.Network, error) {
	if f.node != "" {
		address, err := parseNode(f.node)
		if err != nil {
			return nil, err
		}
		return &running.Network{Nodes: []string{address}, Seed: nodeconfig.GenesisSeed(cmp.Or(f.seed, defaultSeed))}, nil
	}
	if f.seed != "" {
		return nil, errors.New("--seed goes with --node: a network of this machine says its seed itself")
	}
	stateDir, err := stateDirOr(f.stateDir)
	if err != nil {
		return nil, err
	}
	running, err := running.Find(stateDir, f.network)
	if err != nil {
		return nil, fmt.Errorf("%w: name a node with --node, or run shardyard up", err)
	}
	return running, nil
}

// stateDirOr is a folder that somebody named, or else the default one.
func stateDirOr(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	return statedir.Default()
}

// parseNode is the HOST:PORT of a node.
func parseNode(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" || parsed.Port() == "" || strings.Trim(parsed.Path, "/") != "" || parsed.User != nil {
		return "", fmt.Errorf("--node: %q is not http://HOST:PORT", text)
	}
	return parsed.Host, nil
}

// account is the account that a text names.
func (n *node) account(text string) (account.ID, error) {
	if !strings.HasPrefix(text, genesisPrefix) {
		return account.ParseID(text)
	}
	key, err := n.genesisKey(text)
	if err != nil {
		return account.ID{}, err
	}
	return account.Of(key), nil
}

// genesisKey is the key of a genesis account.
func (n *node) genesisKey(text string) (keys.Key, error) {
	index, err := strconv.ParseUint(strings.TrimPrefix(text, genesisPrefix), 10, 32)
	if err != nil || !strings.HasPrefix(text, genesisPrefix) {
		return keys.Key{}, fmt.Errorf("%q is no genesis account: want %sINDEX", text, genesisPrefix)
	}
	return account.Genesis(n.seed, uint32(index))
}
