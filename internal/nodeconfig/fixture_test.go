// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// fixture is a network of two shards with two producers each, a chunk validator
// and an rpc node, and everything that its files are made from.
type fixture struct {
	network    *v1alpha1.ShardNetwork
	plan       *topology.Plan
	publicKeys map[string]ed25519.PublicKey
	addresses  map[string]string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	network := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Name: "quickstart"},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards:            2,
			ProducersPerShard: 2,
			ChunkValidators:   1,
			RPCNodes:          1,
			Regions:           []v1alpha1.Region{{Name: "north", Nodes: 3}, {Name: "south", Nodes: 3}},
			Links: []v1alpha1.LinkSpec{{
				Between: []string{"south", "north"}, DelayMilliseconds: 35, LossBasisPoints: 1, BandwidthMegabitsPerSecond: 1000,
			}},
			Genesis: v1alpha1.GenesisSpec{
				AccountsPerShard: 1000,
				InitialBalance:   1_000_000_000,
				Seed:             "shardyard",
			},
			Protocol: v1alpha1.ProtocolSpec{
				ExecutionLag:             1,
				MinBlockTimeMilliseconds: 250,
				ChunkWaitMilliseconds:    1000,
				MaxTransactionsPerChunk:  20_000,
				MandatesPerShard:         64,
				EpochLengthBlocks:        43_200,
				CongestionControl:        v1alpha1.SwitchEnabled,
				TransferFee:              ptr.To[int64](1),
				LeastBalance:             ptr.To[int64](10),
			},
			Node: v1alpha1.NodeSpec{
				Features: v1alpha1.NodeFeatures{
					SignatureBatchSize:      ptr.To[int32](128),
					MempoolCapacity:         100_000,
					MempoolMebibytes:        64,
					AdaptiveChunkSize:       v1alpha1.SwitchEnabled,
					SaveUntrackedChunkParts: v1alpha1.SwitchEnabled,
				},
				Storage: v1alpha1.NodeStorage{
					Engine:                 v1alpha1.StorageEngineLog,
					SnapshotIntervalBlocks: 1000,
					RetentionBlocks:        20_000,
				},
				Log: v1alpha1.NodeLog{Level: v1alpha1.LogLevelDebug},
			},
			Tracing: &v1alpha1.TracingSpec{Endpoint: "http://collector:4318", SampleBasisPoints: 100},
		},
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}

	fixture := &fixture{
		network:    network,
		plan:       plan,
		publicKeys: map[string]ed25519.PublicKey{},
		addresses:  map[string]string{},
	}
	for i, validator := range plan.Nodes {
		seed := sha256.Sum256([]byte(validator.Name))
		fixture.publicKeys[validator.Name] = ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
		fixture.addresses[validator.Name] = fmt.Sprintf("127.0.0.1:%d", 26600+i)
	}
	return fixture
}

// checkGolden compares a document with a file under testdata.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s should be\n%s\nbut is\n%s", name, want, got)
	}
}
