// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	createdAtMs = 1_790_000_000_000
	blockTimeMs = 250
)

// fixture are the files of validator quickstart-s1-p0 of a network of four.
func fixture(t *testing.T) files {
	t.Helper()
	genesis := nodeconfig.Genesis{
		Network:     "quickstart",
		CreatedAtMs: createdAtMs,
		Shards:      2,
		Accounts:    nodeconfig.GenesisAccounts{PerShard: 1000, InitialBalance: 1_000_000},
		Protocol:    nodeconfig.GenesisProtocol{MinBlockTimeMs: blockTimeMs},
	}
	mounted := files{"admin.token": []byte("secret")}
	for _, name := range []string{"quickstart-s0-p0", "quickstart-s0-p1", "quickstart-s1-p0", "quickstart-s1-p1"} {
		key, err := keys.Generate()
		if err != nil {
			t.Fatal(err)
		}
		genesis.Validators = append(genesis.Validators, nodeconfig.GenesisValidator{
			Name:      name,
			PublicKey: strings.TrimPrefix(key.String(), "key of "),
			Role:      topology.RoleProducer,
			Seat:      &topology.Seat{Shard: int(name[len("quickstart-s")] - '0'), Slot: int(name[len(name)-1] - '0')},
			Stake:     1_000_000,
		})
		if name == "quickstart-s1-p0" {
			mounted["validator.key"] = key.File()
		}
	}
	config := nodeconfig.Config{
		Network:     "quickstart",
		Node:        "quickstart-s1-p0",
		Region:      "local",
		Role:        "producer",
		GenesisFile: "genesis.json",
		KeyFile:     "validator.key",
		HTTP:        nodeconfig.HTTPConfig{Listen: "0.0.0.0:26700"},
		Admin:       &nodeconfig.AdminConfig{Listen: "0.0.0.0:26800", TokenFile: "admin.token"},
	}
	for name, document := range map[string]any{"config.json": config, "genesis.json": genesis} {
		content, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		mounted[name] = content
	}
	return mounted
}

// serve serves a node of a network whose nodes run, some time after genesis.
func serve(t *testing.T, files files, sysctls []corev1.Sysctl, running []string, age time.Duration) string {
	t.Helper()
	return serveAPI(t, newAPI(t, files, sysctls, running, age))
}

func serveAPI(t *testing.T, api *api) string {
	t.Helper()
	server := httptest.NewServer(api.handler())
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func newAPI(t *testing.T, files files, sysctls []corev1.Sysctl, running []string, age time.Duration) *api {
	t.Helper()
	node, err := newNode(files, sysctls)
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(createdAtMs).Add(age)
	network := newNetwork(node.genesis, now)
	for _, name := range running {
		network.setRate(name, 0, now)
	}
	return &api{node: node, network: network, now: func() time.Time { return now }}
}

var allNodes = []string{"quickstart-s0-p0", "quickstart-s0-p1", "quickstart-s1-p0", "quickstart-s1-p1"}

func TestStatusHasTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../docs/node-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(contract), "### `GET /status`\n\n```json\n")
	if !found {
		t.Fatal("the node contract has no example of /status")
	}
	document, _, _ := strings.Cut(section, "\n```\n")

	address := serve(t, fixture(t), nil, allNodes, time.Minute)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var served, wanted any
	if err := json.NewDecoder(response.Body).Decode(&served); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(document), &wanted); err != nil {
		t.Fatal(err)
	}
	if served, wanted := fields("", served), fields("", wanted); !slices.Equal(served, wanted) {
		t.Errorf("the fields are\n%v\nwant\n%v", served, wanted)
	}
}

// fields are the paths of all members of a document.
func fields(path string, document any) []string {
	var paths []string
	switch document := document.(type) {
	case map[string]any:
		for name, value := range document {
			paths = append(paths, path+"."+name)
			paths = append(paths, fields(path+"."+name, value)...)
		}
	case []any:
		if len(document) > 0 {
			paths = fields(path+"[]", document[0])
		}
	}
	slices.Sort(paths)
	return paths
}

func TestHeightsFollowTheClock(t *testing.T) {
	t.Parallel()
	status, err := chain.NewClient(serve(t, fixture(t), nil, allNodes, 10*time.Second), chain.Admin{}).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Height != 40 || status.FinalizedHeight != 39 {
		t.Errorf("heights are %d and %d, want 40 and 39", status.Height, status.FinalizedHeight)
	}
	if wanted := int64(createdAtMs + 39*blockTimeMs); status.FinalizedTimeMs != wanted {
		t.Errorf("the finalised block is of %d, want %d", status.FinalizedTimeMs, wanted)
	}
	if len(status.Shards) != 2 || status.Shards[1].ChunkHeight != 39 {
		t.Errorf("the shards are %+v, want two with a chunk in the finalised block", status.Shards)
	}
}

func TestSysctlsOfThePodAreReadBack(t *testing.T) {
	t.Parallel()
	sysctls := resources.Sysctls(v1alpha1.TCPProfileHighThroughput)
	status, err := chain.NewClient(serve(t, fixture(t), sysctls, allNodes, time.Minute), chain.Admin{}).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tcp := status.TCP; tcp.CongestionControl == nil || *tcp.CongestionControl != "bbr" ||
		tcp.MaxSynBacklog == nil || *tcp.MaxSynBacklog != 8096 || !slices.Equal(tcp.Wmem, []uint64{4096, 87380, 134217728}) {
		t.Errorf("the settings are %+v, want those of the profile", tcp)
	}
	if _, err := newNode(fixture(t), []corev1.Sysctl{{Name: "net.ipv4.tcp_sack", Value: "1"}}); err == nil {
		t.Error("a setting that no node reports was taken")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	server := newAPI(t, fixture(t), nil, allNodes, time.Minute)
	address := serveAPI(t, server)
	access := chain.Admin{Address: serveAdmin(t, server), PublicKey: server.key.Public(), Token: "secret"}
	node := chain.NewClient(address, access)
	if _, err := node.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 1000}); err != nil {
		t.Fatal(err)
	}
	status, err := node.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Load.TransfersPerSecond != 1000 || status.TPS < 900 || status.TPS > 1100 {
		t.Errorf("the load is %d and TPS %.1f, want 1000 and about as much", status.Load.TransfersPerSecond, status.TPS)
	}
	load, err := node.Load(t.Context())
	if err != nil || load.TransfersPerSecond != 1000 {
		t.Errorf("the load is %+v, %v, want 1000", load, err)
	}

	var refused *chain.ResponseError
	access.Token = "wrong"
	if _, err := chain.NewClient(address, access).SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 1}); !errors.As(err, &refused) ||
		refused.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a wrong token the answer is %v, want 401", err)
	}
	_, err = node.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: maxRate + 1})
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		t.Errorf("with too high a rate the answer is %v, want 400", err)
	}
}

func TestReadinessNeedsAQuorum(t *testing.T) {
	t.Parallel()
	for running, ready := range map[int]bool{2: false, 3: true} {
		readiness, err := chain.NewClient(serve(t, fixture(t), nil, allNodes[:running], time.Minute), chain.Admin{}).Readiness(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if readiness.Ready != ready || ready == (len(readiness.Reasons) > 0) {
			t.Errorf("with %d of 4 nodes readiness is %+v", running, readiness)
		}
	}
}

func TestFilesThatANodeRefuses(t *testing.T) {
	t.Parallel()
	other, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		spoil func(files)
		want  string
	}{
		"no genesis document": {func(f files) { delete(f, "genesis.json") }, "there is no file genesis.json"},
		"no key":              {func(f files) { f["validator.key"] = nil }, "validator.key: a key is 64 hex digits"},
		"another key":         {func(f files) { f["validator.key"] = other.File() }, "quickstart-s1-p0 has public key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoilt := fixture(t)
			test.spoil(spoilt)
			if _, err := newNode(spoilt, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestCopyIsAsTold(t *testing.T) {
	t.Parallel()
	node, err := newNode(fixture(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(createdAtMs).Add(time.Minute)
	api := &api{node: node, network: newNetwork(node.genesis, now), now: func() time.Time { return now }}
	server := httptest.NewServer(api.handler())
	t.Cleanup(server.Close)
	client := chain.NewClient(server.Listener.Addr().String(), chain.Admin{})
	for _, lacking := range []string{"", "everything", ""} {
		api.lack(lacking)
		status, err := client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.Copy == nil || status.Copy.Complete != (lacking == "") || len(status.Copy.Missing) > 0 != (lacking != "") {
			t.Errorf("told to lack %q, the node says %+v", lacking, status.Copy)
		}
	}
}
