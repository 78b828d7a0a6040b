// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// loaderName is what a stand-in that loads is called among those that misbehave.
const loaderName = "loader"

// loaderWaits is what one says that is ready and needs nobody until it is over.
const loaderWaits = "waits for its users"

// standinLoader is a loader in all that this package sees: blocks of stand-ins
// execute what they can of what its users would have sent, and pools refuse the rest.
type standinLoader struct {
	nodes           nodesFlag
	genesis, report string
	users, every    uint64
	seconds         uint64
	startAtMs       int64
}

// nodesFlag takes the addresses of nodes.
type nodesFlag []string

func (n *nodesFlag) String() string { return strings.Join(*n, ",") }

func (n *nodesFlag) Set(address string) error {
	*n = append(*n, address)
	return nil
}

// newStandinLoader reads the command line of a loader, and refuses one that real
// loaders do not take, or that is not of users.
func newStandinLoader(args []string) (*standinLoader, error) {
	loader := &standinLoader{}
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.Var(&loader.nodes, "node", "")
	flags.StringVar(&loader.genesis, "genesis", "", "")
	flags.StringVar(&loader.report, "report", "", "")
	flags.Uint64Var(&loader.users, "users", 0, "")
	flags.Uint64Var(&loader.every, "every-ms", 0, "")
	flags.Uint64Var(&loader.seconds, "duration-seconds", 0, "")
	flags.Int64Var(&loader.startAtMs, "start-at-ms", 0, "")
	batch, full := flags.Int("batch", 0, ""), flags.String("when-full", "", "")
	connections, _ := flags.Uint64("connections", 0, ""), flags.Int("drain-seconds", 0, "")
	receivers, within := flags.String("receivers", "", ""), flags.Int("within-shard-percent", 0, "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *batch != 1 || *full != "count" || *connections == 0 || *connections > loader.users || *receivers != "Uniform" || *within != 50 {
		return nil, fmt.Errorf("arguments %q are not those of users", args)
	}
	return loader, nil
}

func runStandinLoader(behaviour string, args []string) error {
	loader, err := newStandinLoader(args)
	if err != nil {
		return err
	}
	misbehaviours := map[string]misbehaviour{}
	if err := json.Unmarshal([]byte(behaviour), &misbehaviours); err != nil {
		return err
	}
	wrong := misbehaviours[loaderName]
	if wrong.ExitCode != 0 {
		log.Print("is what this loader finds wrong")
		os.Exit(wrong.ExitCode)
	}
	first, err := loader.finalizedHeight()
	if err != nil {
		return err
	}
	log.Print(loaderWaits)
	if !loader.load() {
		return nil
	}
	last, err := loader.finalizedHeight()
	if err != nil {
		return err
	}
	if wrong.LoseSupply {
		last = first
	}
	return loader.write(first, last)
}

// load takes as long as the users send; false if somebody ends it.
func (l *standinLoader) load() bool {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	select {
	case <-terminated:
		return false
	case <-time.After(time.Until(time.UnixMilli(l.startAtMs).Add(time.Duration(l.seconds) * time.Second))):
		return true
	}
}

// write writes what became of the transfers, between two heights.
func (l *standinLoader) write(first, last uint64) error {
	var genesis nodeconfig.Genesis
	if err := readJSON(l.genesis, &genesis); err != nil {
		return err
	}
	perSecond := l.users * 1000 / l.every
	executed := min(perSecond, transfersPerBlock*1000/uint64(genesis.Protocol.MinBlockTimeMs))
	counted := func(seconds uint64) map[string]any {
		return map[string]any{
			"offered": perSecond * seconds, "sent": perSecond * seconds, "accepted": executed * seconds, "executed": executed * seconds,
			"refused": map[string]uint64{"full": (perSecond - executed) * seconds},
		}
	}
	seconds := make([]map[string]any, l.seconds)
	for i := range seconds {
		seconds[i] = counted(1)
	}
	content, err := json.Marshal(map[string]any{
		"version": 1, "startedAtMs": l.startAtMs, "totals": counted(l.seconds), "seconds": seconds,
		"executedMs": map[string]any{"count": 1, "p50": 50, "p99": 70},
		"saturation": map[string]any{"saturated": perSecond > executed},
		"blocks":     map[string]any{"firstHeight": first, "lastHeight": last},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(l.report, content, 0o600)
}

// finalizedHeight asks all nodes.
func (l *standinLoader) finalizedHeight() (height uint64, err error) {
	for _, node := range l.nodes {
		response, err := http.Get(node + "/status") //nolint:noctx // a stand-in is killed at the end of its test
		if err != nil {
			return 0, err
		}
		var status chain.Status
		err = json.NewDecoder(response.Body).Decode(&status)
		_ = response.Body.Close()
		if err != nil {
			return 0, err
		}
		height = max(height, status.FinalizedHeight)
	}
	return height, nil
}
