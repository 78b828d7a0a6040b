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

// nodesFlag takes the addresses of nodes.
type nodesFlag []string

func (n *nodesFlag) String() string { return strings.Join(*n, ",") }

func (n *nodesFlag) Set(address string) error {
	*n = append(*n, address)
	return nil
}

// runStandinLoader is a loader in all that this package sees: blocks of stand-ins
// execute what they can of what its users would have sent, and pools refuse the rest.
func runStandinLoader(behaviour string, args []string) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	var nodes nodesFlag
	flags.Var(&nodes, "node", "")
	genesisFile, report := flags.String("genesis", "", ""), flags.String("report", "", "")
	users, every := flags.Uint64("users", 0, ""), flags.Uint64("every-ms", 0, "")
	duration, startAt := flags.Uint64("duration-seconds", 0, ""), flags.Int64("start-at-ms", 0, "")
	batch, full := flags.Int("batch", 0, ""), flags.String("when-full", "", "")
	connections, _ := flags.Uint64("connections", 0, ""), flags.Int("drain-seconds", 0, "")
	receivers, _ := flags.String("receivers", "", ""), flags.Int("within-shard-percent", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *batch != 1 || *full != "count" || *connections == 0 || *connections > *users || *receivers != "Uniform" {
		return fmt.Errorf("arguments %q are not those of users", args)
	}
	misbehaviours := map[string]misbehaviour{}
	if err := json.Unmarshal([]byte(behaviour), &misbehaviours); err != nil {
		return err
	}
	if code := misbehaviours[loaderName].ExitCode; code != 0 {
		log.Print("is what this loader finds wrong")
		os.Exit(code)
	}
	var genesis nodeconfig.Genesis
	if err := readJSON(*genesisFile, &genesis); err != nil {
		return err
	}
	first, err := finalizedHeight(nodes)
	if err != nil {
		return err
	}
	begin := time.UnixMilli(*startAt)
	if time.Now().After(begin) {
		return fmt.Errorf("%d is over", *startAt)
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	select {
	case <-terminated:
		return nil
	case <-time.After(time.Until(begin.Add(time.Duration(*duration) * time.Second))):
	}
	last, err := finalizedHeight(nodes)
	if err != nil {
		return err
	}
	perSecond := *users * 1000 / *every
	executed := min(perSecond, transfersPerBlock*1000/uint64(genesis.Protocol.MinBlockTimeMs))
	counted := func(seconds uint64) map[string]any {
		return map[string]any{
			"offered": perSecond * seconds, "sent": perSecond * seconds, "accepted": executed * seconds, "executed": executed * seconds,
			"refused": map[string]uint64{"full": (perSecond - executed) * seconds},
		}
	}
	if misbehaviours[loaderName].LoseSupply {
		last = first
	}
	seconds := make([]map[string]any, *duration)
	for i := range seconds {
		seconds[i] = counted(1)
	}
	content, err := json.Marshal(map[string]any{
		"version": 1, "startedAtMs": *startAt, "totals": counted(*duration), "seconds": seconds,
		"executedMs": map[string]any{"count": 1, "p50": 50, "p99": 70},
		"saturation": map[string]any{"saturated": perSecond > executed},
		"blocks":     map[string]any{"firstHeight": first, "lastHeight": last},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(*report, content, 0o600)
}

// finalizedHeight asks all nodes.
func finalizedHeight(nodes []string) (height uint64, err error) {
	for _, node := range nodes {
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
