// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

var restartsDescription = prometheus.NewDesc("shardyard_healing_restarts_total",
	"How often the operator started a node again because it did not keep up with the chain.", []string{"namespace", "network"}, nil)

// restarts counts, by network, how often nodes were started again because they did not
// keep up.
type restarts struct {
	lock  sync.Mutex
	count map[types.NamespacedName]int
}

func newRestarts() *restarts { return &restarts{count: map[types.NamespacedName]int{}} }

// add counts a node of a network.
func (s *restarts) add(network types.NamespacedName) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.count[network]++
}

// forget lets go of a network that is gone.
func (s *restarts) forget(network types.NamespacedName) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.count, network)
}

// Describe names the metric.
func (*restarts) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- restartsDescription
}

// Collect tells its values.
func (s *restarts) Collect(values chan<- prometheus.Metric) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for network, count := range s.count {
		values <- prometheus.MustNewConstMetric(restartsDescription, prometheus.CounterValue, float64(count), network.Namespace, network.Name)
	}
}
