// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

var createdAt = time.UnixMilli(1_790_000_000_000)

func TestGenesisDocument(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	genesis, err := nodeconfig.NewGenesis(fixture.network, fixture.plan, fixture.publicKeys, createdAt)
	if err != nil {
		t.Fatal(err)
	}
	content, err := nodeconfig.Encode(genesis)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "genesis.json", content)
}

func TestGenesisSeedFollowsTheSpec(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	seeds := map[string]bool{}
	for _, seed := range []string{"shardyard", "shardyard ", "another"} {
		fixture.network.Spec.Genesis.Seed = seed
		genesis, err := nodeconfig.NewGenesis(fixture.network, fixture.plan, fixture.publicKeys, createdAt)
		if err != nil {
			t.Fatal(err)
		}
		seeds[genesis.Seed] = true
	}
	if len(seeds) != 3 {
		t.Errorf("three seeds in specs give %d seeds of accounts", len(seeds))
	}
}

func TestGenesisNeedsEveryKey(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t)
	delete(fixture.publicKeys, "quickstart-s1-p0")
	_, err := nodeconfig.NewGenesis(fixture.network, fixture.plan, fixture.publicKeys, createdAt)
	if err == nil || !strings.Contains(err.Error(), "validator quickstart-s1-p0 has no public key") {
		t.Errorf("error is %v, want it to name the validator without a key", err)
	}

	fixture.publicKeys["quickstart-s1-p0"] = make([]byte, 31)
	_, err = nodeconfig.NewGenesis(fixture.network, fixture.plan, fixture.publicKeys, createdAt)
	if err == nil || !strings.Contains(err.Error(), "public key of validator quickstart-s1-p0 has 31 bytes") {
		t.Errorf("error is %v, want it to name the validator with a short key", err)
	}
}
