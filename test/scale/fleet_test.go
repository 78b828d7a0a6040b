// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// patience is how long the published network may take until every object of it
// is applied and every pod runs, in three clusters. It takes a minute. But an
// interruption can keep a scheduler from hearing that a pod fits by now, and
// then it looks again after five minutes.
const patience = 8 * time.Minute

// fleet are three clusters, one for each region of the preset: the operator's
// own first, and the members by the names that the preset has for them.
type fleet struct {
	home     *cluster
	members  map[string]*cluster
	operator *operator
	// started is when the network was asked for.
	started time.Time
}

// clusters are all of the fleet, by the names that regions have for them.
func (f *fleet) clusters() map[string]*cluster {
	all := map[string]*cluster{"": f.home}
	for name, member := range f.members {
		all[name] = member
	}
	return all
}

// machinesOf are as many as the preset has nodes in the region of a cluster.
var machinesOf = map[string]int{"": 47, "us-east1": 47, "us-east4": 46}

func TestFleet(t *testing.T) {
	// The stand-in has much to say of a control plane that is away.
	ctrl.SetLogger(logr.Discard())
	program(t, "HELM")
	program(t, "OPERATOR")
	program(t, "SHARDYARD")
	f := &fleet{members: map[string]*cluster{}}
	f.home = startCluster(t, place{"fleet-us-central1", "127.64.0.0/16", "us-central1", machinesOf[""]})
	f.members["us-east1"] = startCluster(t, place{"fleet-us-east1", "127.65.0.0/16", "us-east1", machinesOf["us-east1"]})
	f.members["us-east4"] = startCluster(t, place{"fleet-us-east4", "127.66.0.0/16", "us-east4", machinesOf["us-east4"]})
	f.operator = f.home.installOperator(t)
	f.join(t)
	f.operator.start(t)
	_, standIn := standIn(t, f.home.config, f.members["us-east1"].config, f.members["us-east4"].config)
	standIn()

	// Each step goes on where the one before ended.
	passed := t.Run("Create", f.create) &&
		t.Run("Drain", f.drain) &&
		t.Run("Outage", f.outage) &&
		t.Run("Remove", f.remove)
	if passed {
		f.operator.stop(t)
	}
}

// join joins the members as the guide says.
func (f *fleet) join(t *testing.T) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	for name, cluster := range f.clusters() {
		one, err := clientcmd.LoadFromFile(cluster.kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		current := one.Contexts[one.CurrentContext]
		config.Clusters["of-"+name], config.AuthInfos["of-"+name] = one.Clusters[current.Cluster], one.AuthInfos[current.AuthInfo]
		config.Contexts["of-"+name] = &clientcmdapi.Context{Cluster: "of-" + name, AuthInfo: "of-" + name}
	}
	config.CurrentContext = "of-"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"join", "--kubeconfig", path}
	for name := range f.members {
		arguments = append(arguments, fmt.Sprintf("%s=of-%s,%s.example", name, name, name))
	}
	if output, err := exec.CommandContext(t.Context(), program(t, "SHARDYARD"), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("join: %v\n%s", err, output)
	}
}

// create makes the network of the preset by the one command of its chart, and
// takes one of the clusters away meanwhile.
func (f *fleet) create(t *testing.T) {
	f.started = time.Now()
	// Fake machines have no kernel to tune.
	f.home.helm(t, "install", "run", testnetChart, "--set", "preset="+preset, "--set", "nodeTuning.enabled=false")
	interrupted := f.members["us-east4"]
	eventually(t, patience, func(ctx context.Context) error {
		if interrupted.podsRun(ctx, "run", 0) == nil {
			return errors.New("no pod runs yet")
		}
		return nil
	})
	interrupted.stop(t)
	interrupted.start(t, "127.67.0.0/16")
	t.Logf("a control plane was stopped and started again until %s after the begin", f.elapsed())

	eventually(t, patience-time.Since(f.started), func(ctx context.Context) error {
		for name, cluster := range f.clusters() {
			if err := cluster.podsRun(ctx, "run", machinesOf[name]); err != nil {
				return fmt.Errorf("cluster %q: %w", name, err)
			}
		}
		return f.home.hasConditions(ctx, "run", map[string]metav1.ConditionStatus{
			v1alpha1.ConditionClustersAvailable: metav1.ConditionTrue,
			v1alpha1.ConditionGenesisReady:      metav1.ConditionTrue,
			v1alpha1.ConditionApplied:           metav1.ConditionTrue,
			v1alpha1.ConditionNodesReady:        metav1.ConditionTrue,
		})
	})
	t.Logf("everything is applied and all nodes are ready %s after the begin", f.elapsed())
	f.becomesReady(t)
	t.Logf("the network is ready %s after the begin", f.elapsed())
	f.check(t)
}

func (f *fleet) elapsed() time.Duration { return time.Since(f.started).Round(100 * time.Millisecond) }

func (f *fleet) becomesReady(t *testing.T) {
	t.Helper()
	eventually(t, 2*time.Minute, func(ctx context.Context) error {
		return f.home.hasConditions(ctx, "run", map[string]metav1.ConditionStatus{v1alpha1.ConditionReady: metav1.ConditionTrue})
	})
}

// check checks that each cluster has what the plan says and nothing else, and
// all the same genesis document.
func (f *fleet) check(t *testing.T) {
	t.Helper()
	network, err := f.home.network(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]bool{}
	for name, cluster := range f.clusters() {
		eventually(t, time.Minute, func(ctx context.Context) error { return cluster.complete(ctx, t, network, name) })
		documents[cluster.checkGenesis(t, network, name)] = true
	}
	if len(documents) != 1 {
		t.Errorf("the clusters have %d genesis documents, want one", len(documents))
	}
}

// identities are the objects of the network in all clusters, by what tells one
// from another that took its place.
func (f *fleet) identities(t *testing.T) map[types.UID]string {
	t.Helper()
	found := map[types.UID]string{}
	for name, cluster := range f.clusters() {
		all, err := cluster.everything(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, thing := range all {
			if thing.labels[resources.LabelNetwork] != "" {
				found[thing.uid] = fmt.Sprintf("%s in cluster %q", thing, name)
			}
		}
	}
	return found
}

// outage takes a cluster away from a network that runs: it says so and goes on,
// and in the end nothing is another.
func (f *fleet) outage(t *testing.T) {
	before := f.identities(t)
	lost := f.members["us-east1"]
	lost.stop(t)
	eventually(t, time.Minute, func(ctx context.Context) error {
		return f.home.hasConditions(ctx, "run", map[string]metav1.ConditionStatus{
			v1alpha1.ConditionClustersAvailable: metav1.ConditionFalse,
			v1alpha1.ConditionApplied:           metav1.ConditionUnknown,
			// Its nodes answer for themselves.
			v1alpha1.ConditionNodesReady: metav1.ConditionTrue,
			v1alpha1.ConditionProducing:  metav1.ConditionTrue,
			v1alpha1.ConditionReady:      metav1.ConditionFalse,
		})
	})
	f.goesOn(t)
	lost.start(t, "127.68.0.0/16")
	f.becomesReady(t)
	f.check(t)
	after := f.identities(t)
	for uid, name := range before {
		if _, ok := after[uid]; !ok {
			t.Errorf("%s was replaced", name)
		}
	}
}

// goesOn waits until the status tells of newer blocks.
func (f *fleet) goesOn(t *testing.T) {
	t.Helper()
	height := func(ctx context.Context) (int64, error) {
		network, err := f.home.network(ctx, "run")
		if err != nil {
			return 0, err
		}
		if network.Status.FinalizedHeight == nil {
			return 0, errors.New("no height is known")
		}
		return *network.Status.FinalizedHeight, nil
	}
	first, err := height(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func(ctx context.Context) error {
		now, err := height(ctx)
		if err == nil && now <= first {
			err = fmt.Errorf("the height is %d still", now)
		}
		return err
	})
}

// remove uninstalls the network and waits until nothing is left of it anywhere.
func (f *fleet) remove(t *testing.T) {
	f.started = time.Now()
	f.home.helm(t, "uninstall", "run")
	for name, cluster := range f.clusters() {
		eventually(t, 3*time.Minute, func(ctx context.Context) error {
			if err := cluster.empty(ctx); err != nil {
				return fmt.Errorf("cluster %q: %w", name, err)
			}
			return nil
		})
	}
	t.Logf("nothing is left %s after the end", f.elapsed())
}
