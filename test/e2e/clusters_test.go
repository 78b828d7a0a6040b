// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/dashboards"
)

// The clusters of one network: the operator's own and a member. Each validator
// has a machine of its own.
var (
	homeCluster = settings{
		number: "1", nodes: "2", regions: "us-east1", archives: []string{"operator.tar", "shardnode.tar"},
	}
	memberCluster = settings{
		number: "2", nodes: "2", regions: "us-east4", archives: []string{"shardnode.tar"},
	}
)

// spanningNetwork is a network with half of its validators in each cluster.
type spanningNetwork struct {
	*network
	member *cluster
	// prometheus is that of the home cluster, which the member's agent writes to.
	prometheus *dashboards.Prometheus
}

// One network runs in two clusters. It goes on while their machines are drained,
// and while one of them has no API server.
func TestTwoClusters(t *testing.T) {
	if os.Getenv("KEEP") != "" {
		t.Skip("KEEP is about the one cluster of the other test")
	}
	machine := lookAtMachine(t)
	home := startCluster(t, homeCluster, false)
	if home.provider != "namespaces" {
		t.Skip("clusters of kind do not reach each other's pods")
	}
	member := startCluster(t, memberCluster, false)
	home.installOperator(t)
	home.join(t, member)

	t.Run("network", func(t *testing.T) { home.testSpanning(t, member) })
	t.Run("clusters down", func(t *testing.T) {
		member.down(t)
		home.down(t)
		machine.checkNothingLeft(t)
	})
}

// testSpanning takes a network of two clusters through its life.
func (c *cluster) testSpanning(t *testing.T, member *cluster) {
	t.Helper()
	spec := newSpecOfFour()
	spec.Regions = []v1alpha1.Region{
		{Name: "us-east1", Nodes: 2},
		{Name: "us-east4", Nodes: 2, Cluster: "us-east4"},
	}
	spec.Placement.RegionAffinity = v1alpha1.RegionRequired
	spec.Placement.Exclusivity = v1alpha1.OneValidatorPerMachine
	spec.Volume = &v1alpha1.VolumeSpec{Size: oneGibibyte}
	spec.Load = &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
		Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](200), DurationSeconds: 3600}},
	}}
	n := &spanningNetwork{network: c.create(t, metav1.NamespaceDefault, "spanning", &spec), member: member}
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)

	t.Run("is one chain", n.testOneChain)
	n.watchBoth(t)
	t.Run("shows in one Prometheus", n.testOneView)
	t.Run("lets machines be drained one after the other", n.testDrains)
	t.Run("keeps its machines while it stands still", n.testDrainOfHaltedChain)
	t.Run("goes on without an API server", n.testOutage)
	t.Run("leaves nothing behind", n.testRemoval)
}

// join joins another cluster by its region, as the guide says.
func (c *cluster) join(t *testing.T, member *cluster) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	for name, cluster := range map[string]*cluster{"home": c, "member": member} {
		one, err := clientcmd.LoadFromFile(cluster.kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		current := one.Contexts[one.CurrentContext]
		config.Clusters[name], config.AuthInfos[name] = one.Clusters[current.Cluster], one.AuthInfos[current.AuthInfo]
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	config.CurrentContext = "home"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	newProgram(t, "SHARDYARD").mustRun(t, "join", "--kubeconfig", path, member.regions+"=member,cluster2.local")
}

// holder is the network as the cluster of a validator has it.
func (n *spanningNetwork) holder(cluster string) *network {
	if cluster == "" {
		return n.network
	}
	return &network{cluster: n.member, namespace: n.namespace, name: n.name}
}

// apis are clients of the HTTP APIs of all validators' nodes, by validator.
func (n *spanningNetwork) apis(t *testing.T) map[string]*chain.Client {
	t.Helper()
	plan, apis := n.plan(t), map[string]*chain.Client{}
	for _, validator := range plan.Nodes {
		address := n.holder(validator.Cluster).tunnel(t, n.namespace, resources.PodName(validator.Name), plan.Ports.HTTP)
		apis[validator.Name] = chain.NewClient(address, chain.Admin{})
		t.Cleanup(apis[validator.Name].Close)
	}
	return apis
}

// testOneChain asks all nodes. Three of four votes finalise a block, and each
// cluster has two of them: every block takes votes of both.
func (n *spanningNetwork) testOneChain(t *testing.T) {
	t.Helper()
	apis, audit := n.apis(t), bench.NewAudit()
	began := n.finalized(t)
	follower := audit.Follow(began + 1)
	eventually(t, "transfers that every node has executed", func(ctx context.Context) error {
		for name, api := range apis {
			status, err := api.Status(ctx)
			if err != nil {
				return fmt.Errorf("asking %s: %w", name, err)
			}
			if err := audit.Observe(status); err != nil {
				t.Fatal(err)
			}
			if err := follower.To(ctx, api, status); errors.As(err, new(*bench.DivergenceError)) {
				t.Fatal(err)
			} else if err != nil {
				return err
			}
			// A validator votes before it has found all others.
			if status.Peers != len(apis)-1 {
				return fmt.Errorf("%s is connected to %d peers, want all %d", name, status.Peers, len(apis)-1)
			}
			if confirmed := audit.Confirmed(name); confirmed <= began {
				return fmt.Errorf("the state of %s is that of the chain up to %d, want more than %d", name, confirmed, began)
			}
			if status.Transfers == 0 || status.CrossShard == 0 {
				return fmt.Errorf("%s knows of %d transfers, %d of them between shards", name, status.Transfers, status.CrossShard)
			}
		}
		return nil
	})
}

// watchBoth starts a Prometheus at home, which scrapes the nodes there, and an agent
// in the member, which writes to it what the nodes there say.
func (n *spanningNetwork) watchBoth(t *testing.T) {
	t.Helper()
	plan, nodes := n.plan(t), map[string]map[string]string{"": {}, n.member.regions: {}}
	for _, validator := range plan.Nodes {
		pod := resources.PodName(validator.Name)
		nodes[validator.Cluster][pod] = n.holder(validator.Cluster).tunnel(t, n.namespace, pod, plan.Ports.HTTP)
	}
	n.prometheus = startPrometheus(t, scraping{
		Namespace: n.namespace, Nodes: nodes[""], Reporter: n.report(t), Rules: hurriedRules(t),
	})
	startAgent(t, n.prometheus, scraping{
		Namespace: n.namespace, Nodes: nodes[n.member.regions], Cluster: n.member.regions,
	})
}

// testOneView asks the one Prometheus for the nodes of both clusters, by what a
// dashboard asks, by what the rules make of them all, and by where they come from.
func (n *spanningNetwork) testOneView(t *testing.T) {
	t.Helper()
	checkRules(t, n.prometheus)
	for _, expression := range []string{
		`count by (region) (shardnode_finalized_height{network="spanning", region="us-east1", cluster=""}) == 2`,
		`count by (region) (shardnode_finalized_height{network="spanning", region="us-east4", cluster="us-east4"}) == 2`,
		`count by (network) (changes(shardnode_finalized_height{network="spanning"}[10s]) > 0) == 4`,
		`shardyard:finality_lag_seconds:mean5m{network="spanning", region="us-east4"}`,
	} {
		query := dashboards.Query{Panel: "one view", Legend: expression, Expression: expression, Instant: true}
		eventually(t, query.String(), func(ctx context.Context) error {
			found, err := n.prometheus.HasData(ctx, query)
			if err == nil && !found {
				err = errors.New("there is no such series")
			}
			return err
		})
	}
}

// testOutage has the member's API server hang.
func (n *spanningNetwork) testOutage(t *testing.T) {
	before := n.allPods(t)
	n.member.script("namespaces/apiserver.sh").mustRun(t, "hang")
	resumed := false
	resume := func() {
		if !resumed {
			resumed = true
			if _, err := n.member.script("namespaces/apiserver.sh").run(context.Background(), "", "resume"); err != nil {
				t.Error(err)
			}
		}
	}
	defer resume()

	n.waitFor(t, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	n.goesOn(t)
	// The nodes there say so themselves.
	n.waitFor(t, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
	n.waitFor(t, v1alpha1.ConditionProducing, metav1.ConditionTrue, v1alpha1.ReasonAllShardsProducing)

	memberClusterLost.untilRaised(t, n.prometheus, n.labels())

	resume()
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	memberClusterLost.untilCleared(t, n.prometheus, n.labels())
	if after := n.allPods(t); !maps.Equal(before, after) {
		t.Errorf("the pods are %v, want %v as before", after, before)
	}
}

// allPods are those of both clusters by their UIDs.
func (n *spanningNetwork) allPods(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, cluster := range []string{"", "member"} {
		for name, pod := range n.holder(cluster).mustPods(t) {
			found[name] = string(pod.UID)
		}
	}
	if len(found) != 4 {
		t.Fatalf("the clusters have the pods %v, want 4", slices.Sorted(maps.Keys(found)))
	}
	return found
}

func (n *spanningNetwork) testRemoval(t *testing.T) {
	n.remove(t)
	n.waitForEnd(t)
	eventually(t, "the end of the network in the member", func(ctx context.Context) error {
		return n.member.left(ctx, func(object string) bool { return !strings.Contains(object, "/"+n.name) })
	})
}
