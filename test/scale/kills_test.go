// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// killCount is how many networks are made with an operator that is killed.
const killCount = 10

// kills ends the operator, without a warning, while it makes a network, after a random number of
// its writes, again and again, and checks what becomes of the networks.
func (s *scale) kills(t *testing.T) {
	random := newRandom(t)
	var all requests
	applied := map[string]metav1.ConditionStatus{v1alpha1.ConditionApplied: metav1.ConditionTrue}
	interrupted := 0
	names := make([]string, killCount)
	for i := range names {
		names[i] = fmt.Sprintf("kill-%d", i)
		network := smallNetwork(names[i])
		objects := len(planned(t, network, ""))
		after := random.IntN(objects)

		all = append(all, s.cluster.audit.read(t)...)
		if err := s.cluster.Create(t.Context(), network); err != nil {
			t.Fatal(err)
		}
		seen := s.awaitWrites(t, names[i], after)
		s.operator.kill(t)
		late := s.cluster.audit.read(t)
		seen, all = append(seen, late...), append(all, append(seen, late...)...)
		if s.cluster.hasConditions(t.Context(), names[i], applied) != nil {
			interrupted++
		}
		t.Logf("%s: killed after %d writes, to be killed after %d of the %d that make its objects",
			names[i], len(seen.of(names[i]).writes()), after, objects)
		s.operator.start(t)
	}
	s.figures["killsInTheMiddle"] = float64(interrupted)

	for _, name := range names {
		eventually(t, 2*time.Minute, func(ctx context.Context) error {
			return s.cluster.hasConditions(ctx, name, map[string]metav1.ConditionStatus{v1alpha1.ConditionReady: metav1.ConditionTrue})
		})
	}
	all = append(all, s.cluster.audit.read(t)...)
	for _, name := range names {
		s.checkSurvivor(t, name, all.of(name))
	}
	for _, name := range names {
		if err := s.cluster.Delete(t.Context(), smallNetwork(name)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, time.Minute, s.cluster.empty)
}

// awaitWrites waits until the operator has made a number of writes for a
// network and returns all requests until then.
func (s *scale) awaitWrites(t *testing.T, network string, count int) requests {
	t.Helper()
	var seen requests
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		seen = append(seen, s.cluster.audit.read(t)...)
		return len(seen.of(network).writes()) >= count, nil
	})
	if err != nil {
		t.Fatalf("the operator does not make %d writes for %s: %v", count, network, err)
	}
	return seen
}

// checkSurvivor checks that a network has what the plan says and nothing else,
// and that its keys and its genesis document were made once.
func (s *scale) checkSurvivor(t *testing.T, name string, made requests) {
	t.Helper()
	network, err := s.cluster.network(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func(ctx context.Context) error { return s.cluster.complete(ctx, t, network, "") })
	s.cluster.checkGenesis(t, network, "")

	// The document, the admin token and a key for each validator.
	genesis, secrets := made.creations("configmaps"), made.creations("secrets")
	if count := genesis[name+"-genesis"]; !count.once() {
		t.Errorf("%s: the genesis document was made %d times", name, count.known)
	}
	if wanted := 1 + int(network.Spec.Shards*network.Spec.ProducersPerShard); len(secrets) != wanted {
		t.Errorf("%s: Secrets were made: %v, want %d", name, secrets, wanted)
	}
	for secret, count := range secrets {
		if !count.once() {
			t.Errorf("%s: Secret %s was made %d times", name, secret, count.known)
		}
	}
	changes := made.writes().filter(func(event *auditv1.Event) bool {
		kept := event.ObjectRef.Resource == "secrets" || event.ObjectRef.Name == name+"-genesis"
		return kept && event.Verb != "create" && event.ResponseStatus.Code == http.StatusOK
	})
	if len(changes) > 0 {
		t.Errorf("%s: what is made once was changed:\n%s", name, changes)
	}
}

// smallNetwork is a network with everything that a network can be made of.
func smallNetwork(name string) *v1alpha1.ShardNetwork {
	return &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards:            2,
			ProducersPerShard: 2,
			Regions:           []v1alpha1.Region{{Name: "us-central1", Nodes: 4}},
			Genesis:           v1alpha1.GenesisSpec{AccountsPerShard: 100},
			Placement: v1alpha1.PlacementSpec{
				MachineType:    "c4d-highmem-16",
				Exclusivity:    v1alpha1.Shared,
				RegionAffinity: v1alpha1.RegionNone,
			},
			Volume: &v1alpha1.VolumeSpec{Size: resource.MustParse("10Gi"), IOPS: 3000},
			TCP:    v1alpha1.TCPSpec{Profile: v1alpha1.TCPProfileHighThroughput},
		},
	}
}

// newRandom is seeded by SCALE_SEED, or else anew, and says how to repeat it.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SCALE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SCALE_SEED: %v", err)
		}
	}
	t.Logf("SCALE_SEED=%d makes the same choices", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
