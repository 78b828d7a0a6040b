// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

const (
	// manyNodes is the published network.
	manyNodes = 140
	// mostSpread is how long after the first generator the last one may start, and
	// mostCollecting how long after its end a measurement may take to be there.
	mostSpread, mostCollecting = 10 * time.Second, 30 * time.Second
)

// many are the nodes of a network of pairs, which all serve, and how they are reached.
func many(t *testing.T) ([]topology.Validator, map[string]string, map[string]chain.Admin, *network) {
	t.Helper()
	genesis := nodeconfig.Genesis{
		Network: "many", CreatedAtMs: time.Now().Add(-time.Minute).UnixMilli(), Shards: manyNodes / 2,
		Accounts: nodeconfig.GenesisAccounts{PerShard: 1000, InitialBalance: 1_000_000},
		Protocol: nodeconfig.GenesisProtocol{MinBlockTimeMs: blockTimeMs},
	}
	held := map[string]keys.Key{}
	var validators []topology.Validator
	for i := range manyNodes {
		key, err := keys.Generate()
		if err != nil {
			t.Fatal(err)
		}
		validator := topology.Validator{
			Name: fmt.Sprintf("many-s%d-p%d", i/2, i%2), Role: topology.RoleProducer, Seat: &topology.Seat{Shard: i / 2, Slot: i % 2},
		}
		validators, held[validator.Name] = append(validators, validator), key
		genesis.Validators = append(genesis.Validators, nodeconfig.GenesisValidator{
			Name: validator.Name, PublicKey: fmt.Sprintf("%x", key.Public()), Role: validator.Role, Seat: validator.Seat, Stake: 1,
		})
	}
	document, err := json.Marshal(genesis)
	if err != nil {
		t.Fatal(err)
	}
	network := newNetwork(genesis, time.Now())
	addresses, admins := map[string]string{}, map[string]chain.Admin{}
	for _, validator := range validators {
		config, err := json.Marshal(nodeconfig.Config{
			Network: "many", Node: validator.Name, Role: validator.Role, GenesisFile: "genesis.json", KeyFile: "validator.key",
			HTTP:  nodeconfig.HTTPConfig{Listen: "0.0.0.0:26700"},
			Admin: &nodeconfig.AdminConfig{Listen: "0.0.0.0:26800", TokenFile: "admin.token"},
		})
		if err != nil {
			t.Fatal(err)
		}
		key := held[validator.Name]
		node, err := newNode(files{
			"config.json": config, "genesis.json": document, "validator.key": key.File(), "admin.token": []byte("secret"),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		api := &api{node: node, network: network, now: time.Now}
		network.setRate(validator.Name, 0, time.Now())
		addresses[validator.Name] = serveAPI(t, api)
		admins[validator.Name] = chain.Admin{Address: serveAdmin(t, api), PublicKey: key.Public(), Token: "secret"}
	}
	return validators, addresses, admins, network
}

// serveAdmin serves the admin API of a node, and says where.
func serveAdmin(t *testing.T, api *api) string {
	t.Helper()
	listener, err := adminapi.Listen(t.Context(), net.JoinHostPort("127.0.0.1", "0"), api.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(api.adminHandler())
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// The recorder of a closed loop starts the generators of the published network
// together, has all that was measured soon after, and stops them.
func TestRecordOfManyNodes(t *testing.T) {
	t.Parallel()
	validators, addresses, admins, network := many(t)
	load, err := loading.New(&v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{
		// Blocks take as long whatever the load: the controller stays at the most.
		TargetBlockTimeMilliseconds: blockTimeMs + 50, InitialTransfersPerSecond: 1000 * manyNodes, MaxTransfersPerSecond: 1000 * manyNodes,
		MaxBacklogBlocks: 4, MaxSettleSeconds: 3600,
	}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := recording.Record(t.Context(), &recording.Options{
		Validators: validators,
		Address:    func(validator string) string { return addresses[validator] },
		Steering:   &recording.Steering{Load: load, Admin: func(validator string) chain.Admin { return admins[validator] }},
		Duration:   2 * time.Second,
		Patience:   time.Hour,
		Log:        slog.New(slog.DiscardHandler),
	})
	collected := time.Now()
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" {
		t.Fatalf("the run does not count: %s", run.Fault)
	}
	nodes, spread := network.loading()
	if nodes != manyNodes || spread > mostSpread {
		t.Errorf("%d generators started within %s, want %d within %s", nodes, spread, manyNodes, mostSpread)
	}
	if took := collected.Sub(time.UnixMilli(run.Window.EndMs)); took > mostCollecting {
		t.Errorf("the record was there %s after its measurement ended, want it within %s", took, mostCollecting)
	}
	t.Logf("%d generators started within %s", nodes, spread)
	executed := uint64(0)
	for _, block := range run.MeasuredBlocks() {
		executed += block.Executed
	}
	if executed == 0 || len(run.Nodes) != manyNodes {
		t.Errorf("%d transfers of %d nodes are measured", executed, len(run.Nodes))
	}
	network.lock.Lock()
	defer network.lock.Unlock()
	if rate := network.rate(); rate != 0 {
		t.Errorf("the generators still sign %d transfers per second", rate)
	}
}
