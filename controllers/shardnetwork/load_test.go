// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

// A node that refuses its load is told again, and the network looked at, at the
// usual pace.
func TestNodeRefusesLoad(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	refusals := cluster.runRefusingNode(network, "127.90.0.1", cluster.key("quickstart-s0-p0"))

	for range 3 {
		cluster.clock = cluster.clock.Add(pollInterval)
		before := refusals.Load()
		result, err := cluster.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(network)})
		if err != nil || result.RequeueAfter != pollInterval {
			t.Errorf("the network is looked at again after %s (%v), want %s", result.RequeueAfter, err, pollInterval)
		}
		if refusals.Load() == before {
			t.Error("the node is not told its load")
		}
	}
}

// Whoever answers at the address of a node and does not hold its key is not told
// the load: the token would go with it.
func TestTokenIsForTheNodeAlone(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	told := cluster.runRefusingNode(network, "127.90.0.2", cluster.key("quickstart-s0-p1"))

	api := cluster.reconciler.memories.of(client.ObjectKeyFromObject(network), network.UID)
	for range 3 {
		cluster.mustReconcile(network)
		if len(api.nodes) != 1 {
			t.Fatalf("the operator has clients of %d nodes, want one", len(api.nodes))
		}
	}
	if count := told.Load(); count != 0 {
		t.Errorf("it is told the load %d times", count)
	}
	for _, node := range api.nodes {
		_, err := node.SetLoad(t.Context(), chain.LoadTarget{})
		if err == nil || !strings.Contains(err.Error(), "has another key than it is known by") {
			t.Errorf("the error is %v", err)
		}
	}
}

// Nobody vouches for a node while there is no genesis document.
func TestNoTokenWithoutGenesis(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	told := cluster.runRefusingNode(network, "127.90.0.3", cluster.key("quickstart-s0-p0"))
	if err := cluster.client.Delete(t.Context(), cluster.genesis(network)); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	if count := told.Load(); count != 0 {
		t.Errorf("it is told the load %d times", count)
	}
}

// Nodes that a recorder tells their load are not told another by the operator; those
// of a network that only says so are.
func TestLoadOfARecorder(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	byRecorder := func(network *v1alpha1.ShardNetwork) {
		network.Spec.Load = nil
		network.Labels = map[string]string{resources.LabelLoad: resources.LoadByRecorder}
		network.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
			&v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "bench", UID: "bench"}},
			v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmark))}
	}
	network := cluster.create(byRecorder)
	cluster.mustReconcile(network)
	told := cluster.runRefusingNode(network, "127.90.0.4", cluster.key("quickstart-s0-p0"))
	for range 3 {
		cluster.mustReconcile(network)
	}
	if count := told.Load(); count != 0 {
		t.Errorf("it is told the load %d times", count)
	}
	cluster.read(network)
	if network.Status.Load != nil {
		t.Errorf("the load is %+v, and nobody knows it", network.Status.Load)
	}
	network.OwnerReferences = nil
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	if told.Load() == 0 {
		t.Error("a node that nobody tells its load goes on with one")
	}
}

// Nodes of a network that a benchmark names are told no load of the operator as long as
// that benchmark is under way, and the network's own as soon as it is not.
func TestLoadOfABenchmarkThatNamesTheNetwork(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	benchmark := &v1alpha1.Benchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: network.Namespace, Name: "bench"},
		Spec: v1alpha1.BenchmarkSpec{
			Network: v1alpha1.BenchmarkNetwork{Name: network.Name}, Load: *network.Spec.Load, DurationSeconds: 5,
		},
	}
	if err := cluster.client.Create(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	generation := network.Generation
	if err := cluster.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(resources.NewClaim(benchmark, 1, network)),
		client.FieldOwner("shardyard-benchmark")); err != nil {
		t.Fatal(err)
	}
	cluster.read(network)
	if !resources.ClaimedFor(network, benchmark) || network.Generation != generation {
		t.Fatalf("the network is %+v", network.ObjectMeta)
	}
	told := cluster.runRefusingNode(network, "127.90.0.5", cluster.key("quickstart-s0-p0"))
	for range 3 {
		cluster.mustReconcile(network)
	}
	if count := told.Load(); count != 0 {
		t.Errorf("it is told the load %d times", count)
	}
	if cluster.read(network); network.Status.Load != nil {
		t.Errorf("the network says that it carries its own load: %+v", network.Status.Load)
	}
	benchmark.Status.Phase = v1alpha1.BenchmarkFailed
	if err := cluster.client.Status().Update(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	if told.Load() == 0 {
		t.Error("a node whose benchmark has ended is not told its load")
	}
	before := told.Load()
	if err := cluster.client.Delete(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	if told.Load() == before {
		t.Error("a node whose benchmark is gone is not told its load")
	}
}

// key is the one in the Secret of a validator.
func (c *cluster) key(validator string) keys.Key {
	c.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: resources.KeyName(validator)}}
	c.read(secret)
	key, err := keys.Parse(resources.KeyFile(secret))
	if err != nil {
		c.t.Fatal(err)
	}
	return key
}

// runRefusingNode runs the first node of a network as far as the operator sees:
// a pod whose address answers that it signs transfers, and refuses to be told
// otherwise, by who holds a key. It counts the requests that come with a token.
func (c *cluster) runRefusingNode(network *v1alpha1.ShardNetwork, address string, key keys.Key) *atomic.Int64 {
	c.t.Helper()
	plan, err := topology.New(network)
	if err != nil {
		c.t.Fatal(err)
	}
	validator := plan.Nodes[0]
	refusals := &atomic.Int64{}
	plain, admin := http.NewServeMux(), http.NewServeMux()
	plain.HandleFunc("GET /status", func(response http.ResponseWriter, _ *http.Request) {
		status := chain.Status{Node: validator.Name, Load: &chain.Load{TransfersPerSecond: 7}}
		if err := json.NewEncoder(response).Encode(status); err != nil {
			c.t.Error(err)
		}
	})
	refuse := func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "" {
			refusals.Add(1)
		}
		response.WriteHeader(http.StatusServiceUnavailable)
	}
	// A token that goes to either port is counted.
	plain.HandleFunc("PUT /admin/load", refuse)
	admin.HandleFunc("PUT /admin/load", refuse)
	listener, err := new(net.ListenConfig).Listen(c.t.Context(), "tcp", net.JoinHostPort(address, strconv.Itoa(plan.Ports.HTTP)))
	if err != nil {
		c.t.Fatal(err)
	}
	c.serve(listener, plain)
	listener, err = adminapi.Listen(c.t.Context(), net.JoinHostPort(address, strconv.Itoa(plan.Ports.Admin)), key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.serve(listener, admin)

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.namespace,
			Name:      resources.PodName(validator.Name),
			Labels:    resources.ValidatorLabels(network.Name, validator),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: resources.ContainerName, Image: "shardnode:test"}}},
	}
	if err := c.client.Create(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}}
	if err := c.client.Status().Update(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
	return refusals
}

// serve serves HTTP until the test ends.
func (c *cluster) serve(listener net.Listener, handler http.Handler) {
	// Handshakes that fail are what some tests are about.
	quiet := log.New(io.Discard, "", 0)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	c.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}
