// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// A node that refuses its load is told again, and the network looked at, at the
// usual pace.
func TestNodeRefusesLoad(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	refusals := cluster.runRefusingNode(network, "127.90.0.1")

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

// runRefusingNode runs the first node of a network as far as the operator sees:
// a pod whose address answers that it signs transfers, and refuses to be told
// otherwise. It counts the refusals.
func (c *cluster) runRefusingNode(network *v1alpha1.ShardNetwork, address string) *atomic.Int64 {
	c.t.Helper()
	plan, err := topology.New(network)
	if err != nil {
		c.t.Fatal(err)
	}
	validator := plan.Validators[0]
	refusals := &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(response http.ResponseWriter, _ *http.Request) {
		status := chain.Status{Node: validator.Name, Load: &chain.Load{TransfersPerSecond: 7}}
		if err := json.NewEncoder(response).Encode(status); err != nil {
			c.t.Error(err)
		}
	})
	mux.HandleFunc("PUT /admin/load", func(response http.ResponseWriter, _ *http.Request) {
		refusals.Add(1)
		response.WriteHeader(http.StatusServiceUnavailable)
	})
	listener, err := new(net.ListenConfig).Listen(c.t.Context(), "tcp", net.JoinHostPort(address, strconv.Itoa(plan.Ports.HTTP)))
	if err != nil {
		c.t.Fatal(err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	c.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})

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
