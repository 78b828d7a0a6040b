// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
	"github.com/shardyard/shardyard/test/scripts"
)

// standinEnv makes this test binary a node that serves the contract. Its value
// says how nodes misbehave, by name.
const standinEnv = "SHARDYARD_TEST_STANDIN"

// misbehaviour is what a stand-in does wrong.
type misbehaviour struct {
	// ExitCode ends the node at once.
	ExitCode    int    `json:"exitCode,omitempty"`
	NeverReady  bool   `json:"neverReady,omitempty"`
	RefuseLoad  bool   `json:"refuseLoad,omitempty"`
	RefuseFault bool   `json:"refuseFault,omitempty"`
	KeepFault   bool   `json:"keepFault,omitempty"`
	LoseSupply  bool   `json:"loseSupply,omitempty"`
	GenesisHash string `json:"genesisHash,omitempty"`
	StateRoot   string `json:"stateRoot,omitempty"`
	BlockHash   string `json:"blockHash,omitempty"`
	Version     string `json:"version,omitempty"`
}

func TestMain(m *testing.M) {
	if behaviour, ok := os.LookupEnv(standinEnv); ok {
		if err := runStandin(behaviour, os.Args); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

// standinProgram makes a program that is a node in all that this package sees.
func standinProgram(t *testing.T, misbehaviours map[string]misbehaviour) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	behaviour, err := json.Marshal(misbehaviours)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "shardnode")
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s' \"$@\"\n", standinEnv, behaviour, self)
	scripts.Write(t, path, script)
	return path
}

// standin is one node of a chain that exists by the clock alone: all nodes know
// the same blocks without talking to each other.
type standin struct {
	config  nodeconfig.Config
	genesis nodeconfig.Genesis
	// seat is nil when the node is a chunk validator.
	seat  *topology.Seat
	wrong misbehaviour
	key   keys.Key
	token string
	loads string

	mu   sync.Mutex
	rate int64
	// fault is that of its links, if it is not over.
	fault chain.LinkFault
	ends  time.Time
	// disk is when the fault of its disk is over, and clock when that of its clock is.
	disk, clock time.Time

	// started is when its process was, and full the file that says, to the next process as
	// well, how long its disk is full.
	started time.Time
	full    string
}

// transfersPerBlock is what every block of a stand-in executes.
const transfersPerBlock = 10

func runStandin(behaviour string, args []string) error {
	if len(args) > 1 && args[1] == "load" {
		return runStandinLoader(behaviour, args[2:])
	}
	if len(args) != 4 || args[1] != "run" || args[2] != "--config" {
		return fmt.Errorf("arguments %q are not those of a node", args)
	}
	node, err := newStandin(behaviour, args[3])
	if err != nil {
		return err
	}
	log.Printf("%s starts", node.config.Node)
	if node.wrong.ExitCode != 0 {
		log.Printf("config.json: p2p.listen: is what this stand-in finds wrong")
		os.Exit(node.wrong.ExitCode)
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if !node.awaitRoom(ctx) {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", node.config.HTTP.Listen)
	if err != nil {
		return err
	}
	admin, err := adminapi.Listen(ctx, node.config.Admin.Listen, node.key)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: node.handler(), ReadHeaderTimeout: time.Minute}
	adminServer := &http.Server{Handler: node.adminHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	go func() { _ = adminServer.Serve(admin) }()
	<-ctx.Done()
	return errors.Join(server.Close(), adminServer.Close())
}

func newStandin(behaviour, path string) (*standin, error) {
	dir := filepath.Dir(path)
	node := &standin{started: time.Now()}
	if err := readJSON(path, &node.config); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(dir, node.config.GenesisFile), &node.genesis); err != nil {
		return nil, err
	}
	misbehaviours := map[string]misbehaviour{}
	if err := json.Unmarshal([]byte(behaviour), &misbehaviours); err != nil {
		return nil, err
	}
	node.wrong = misbehaviours[node.config.Node]
	for _, validator := range node.genesis.Validators {
		if validator.Name == node.config.Node {
			node.seat = validator.Seat
		}
	}
	token, err := os.ReadFile(filepath.Join(dir, node.config.Admin.TokenFile))
	if err != nil {
		return nil, err
	}
	node.token = string(token)
	key, err := os.ReadFile(filepath.Join(dir, node.config.KeyFile))
	if err != nil {
		return nil, err
	}
	if node.key, err = keys.Parse(key); err != nil {
		return nil, err
	}

	data := filepath.Join(dir, node.config.DataDir)
	node.loads, node.full = filepath.Join(data, "loads"), filepath.Join(data, "full")
	return node, os.MkdirAll(data, 0o700)
}

func readJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

func (n *standin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if n.wrong.NeverReady {
			w.WriteHeader(http.StatusServiceUnavailable)
			answerJSON(w, chain.Readiness{Reasons: []string{"connected to 0 peers, quorum needs 2"}})
			return
		}
		answerJSON(w, chain.Readiness{Ready: true})
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, n.status(time.Now())) })
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Params struct {
				Height uint64 `json:"height"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answerJSON(w, map[string]any{"result": n.block(request.Params.Height)})
	})
	return mux
}

func (n *standin) adminHandler() http.Handler {
	mux := http.NewServeMux()
	if n.seat != nil {
		mux.HandleFunc("PUT /admin/load", n.setLoad)
	}
	mux.HandleFunc("PUT /admin/links", n.beginFault)
	mux.HandleFunc("DELETE /admin/links", n.endFault)
	mux.HandleFunc("PUT /admin/disk", n.setDisk)
	mux.HandleFunc("DELETE /admin/disk", n.setDisk)
	mux.HandleFunc("PUT /admin/clock", n.setClock)
	mux.HandleFunc("DELETE /admin/clock", n.setClock)
	return mux
}

func answerJSON(w io.Writer, value any) {
	_ = json.NewEncoder(w).Encode(value)
}

func (n *standin) setLoad(w http.ResponseWriter, r *http.Request) {
	var load chain.LoadTarget
	if err := json.NewDecoder(r.Body).Decode(&load); err != nil || r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if n.wrong.RefuseLoad {
		n.note("refused")
		answerJSON(w, chain.Load{})
		return
	}
	n.mu.Lock()
	n.rate = load.TransfersPerSecond
	n.mu.Unlock()
	answer := chain.Load{TransfersPerSecond: load.TransfersPerSecond, Workload: load.Workload, Signing: load.Signing}
	outcome := strconv.FormatInt(load.TransfersPerSecond, 10)
	if load.Stock > 0 {
		// All is signed at once.
		answer.Stock, outcome = &chain.Stock{Transfers: load.Stock, Signed: load.Stock, Left: load.Stock}, fmt.Sprintf("%d before", load.Stock)
	}
	n.note(outcome)
	answerJSON(w, answer)
}

// beginFault takes a fault of links, which nothing here feels.
func (n *standin) beginFault(w http.ResponseWriter, r *http.Request) {
	var fault chain.LinkFault
	if err := json.NewDecoder(r.Body).Decode(&fault); err != nil || n.wrong.RefuseFault || r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault, n.ends = fault, time.Now().Add(time.Duration(fault.DurationMilliseconds)*time.Millisecond)
	answerJSON(w, struct{}{})
}

// setDisk takes a fault of the disk, which nothing here feels, or ends it: the body says
// nothing then. With a full disk, the node ends.
func (n *standin) setDisk(w http.ResponseWriter, r *http.Request) {
	var fault chain.DiskFault
	if err := json.NewDecoder(r.Body).Decode(&fault); err != nil && r.Method == http.MethodPut ||
		r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disk = time.Now().Add(time.Duration(fault.DurationMilliseconds) * time.Millisecond)
	if fault.Condition == chain.DiskFull {
		if err := os.WriteFile(n.full, []byte(n.disk.Format(time.RFC3339Nano)), 0o600); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// The answer is still to be sent.
		time.AfterFunc(100*time.Millisecond, func() { log.Fatal("no space left on device") })
	}
	answerJSON(w, struct{}{})
}

// awaitRoom waits, without an API, while a fault has the disk be full; false if the node is
// to stop.
func (n *standin) awaitRoom(ctx context.Context) bool {
	content, err := os.ReadFile(n.full)
	if err != nil {
		return true
	}
	ends, err := time.Parse(time.RFC3339Nano, string(content))
	if err != nil {
		log.Fatal(err)
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(ends)):
		return true
	}
}

// setClock takes a fault of the clock, which nothing here feels, or ends it: the body says
// nothing then.
func (n *standin) setClock(w http.ResponseWriter, r *http.Request) {
	var fault chain.ClockFault
	if err := json.NewDecoder(r.Body).Decode(&fault); err != nil && r.Method == http.MethodPut ||
		r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock = time.Now().Add(time.Duration(fault.DurationMilliseconds) * time.Millisecond)
	answerJSON(w, struct{}{})
}

func (n *standin) endFault(w http.ResponseWriter, r *http.Request) {
	if n.wrong.KeepFault || r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = time.Time{}
	answerJSON(w, struct{}{})
}

// note writes down what became of a load that this node was told.
func (n *standin) note(outcome string) {
	file, err := os.OpenFile(n.loads, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, _ = fmt.Fprintln(file, outcome)
		_ = file.Close()
	}
}

// block is the finalised block at a height. All shards have a chunk in it, and
// share its transfers.
func (n *standin) block(height uint64) chain.Block {
	block := chain.Block{
		Height: height, Hash: n.blockHash(height),
		TimestampMs: n.genesis.CreatedAtMs + int64(height)*int64(n.genesis.Protocol.MinBlockTimeMs),
	}
	transfers, credits := uint64(transfersPerBlock/n.genesis.Shards), uint64(0)
	for shard := range n.genesis.Shards {
		block.Chunks = append(block.Chunks, chain.ChunkHeader{
			Shard: shard, Height: height, Transactions: &transfers,
			Results: []chain.ExecutionResult{
				{Height: height - 1, StateRoot: rootOf(shard, height-1), Transfers: &transfers, Credits: &credits},
			},
		})
	}
	return block
}

// rootOf is the state root of a shard after a height.
func rootOf(shard int, height uint64) string {
	return fmt.Sprintf("root of %d after %d", shard, height)
}

func (n *standin) blockHash(height uint64) string {
	if n.wrong.BlockHash != "" {
		return n.wrong.BlockHash
	}
	return fmt.Sprintf("block %d", height)
}

func (n *standin) status(now time.Time) chain.Status {
	blockTimeMs := int64(n.genesis.Protocol.MinBlockTimeMs)
	height := uint64((now.UnixMilli() - n.genesis.CreatedAtMs) / blockTimeMs)
	supply := uint64(n.genesis.Accounts.InitialBalance) * uint64(n.genesis.Shards) * uint64(n.genesis.Accounts.PerShard)

	n.mu.Lock()
	defer n.mu.Unlock()
	status := chain.Status{
		Network: n.config.Network, Node: n.config.Node, GenesisHash: "genesis of " + n.genesis.Seed,
		Height: height + 1, FinalizedHeight: height,
		FinalizedTimeMs: n.genesis.CreatedAtMs + int64(height)*blockTimeMs,
		BlockHash:       n.blockHash(height), Version: n.wrong.Version,
		BlockTimeMs: float64(blockTimeMs), TPS: transfersPerBlock * 1000 / float64(blockTimeMs),
		Transfers: transfersPerBlock * height, CrossShard: transfersPerBlock * height / 2, MissedChunks: height / 100,
		Supply:     chain.Supply{Expected: supply, Balances: supply - height, InFlight: height, Conserved: true},
		CPUSeconds: now.Sub(n.started).Seconds() / 10,
	}
	if n.seat != nil {
		status.Tracked = &chain.TrackedStatus{Shard: n.seat.Shard, ExecutedHeight: height, StateRoot: rootOf(n.seat.Shard, height)}
		status.Copy = &chain.CopyStatus{Complete: true, Missing: []string{}}
		status.Load = &chain.Load{TransfersPerSecond: n.rate}
	}
	if now.Before(n.ends) {
		status.FaultyLinks = len(n.fault.Peers)
	}
	if now.Before(n.disk) {
		status.DiskFault = ptr.To(chain.DiskSlow)
	}
	if now.Before(n.clock) {
		status.ClockOffsetMilliseconds = -1
	}
	for shard := range n.genesis.Shards {
		status.Shards = append(status.Shards, chain.ShardStatus{
			Shard: shard, ChunkHeight: height, ExecutedHeight: height - 1, StateRoot: rootOf(shard, height-1),
		})
	}
	if n.wrong.LoseSupply {
		status.Supply.Balances--
		status.Supply.Conserved = false
	}
	if n.wrong.GenesisHash != "" {
		status.GenesisHash = n.wrong.GenesisHash
	}
	if n.wrong.StateRoot != "" {
		status.Tracked.StateRoot = n.wrong.StateRoot
	}
	return status
}
