// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/shardyard/shardyard/internal/sweep"
)

var (
	disksDescription = prometheus.NewDesc("shardyard_outlived_disks",
		"Disks that outlived their network, as they were last looked for.", []string{"namespace", "network"}, nil)
	bytesDescription = prometheus.NewDesc("shardyard_outlived_disk_bytes",
		"Size of the disks that outlived their network, as they were last looked for.", []string{"namespace", "network"}, nil)
)

// gauges are the metrics of what is left. They change all at once, so that
// nobody reads half of them.
type gauges struct {
	lock   sync.Mutex
	totals map[types.NamespacedName]total
}

// total is what is left of one network.
type total struct {
	disks int
	bytes int64
}

func newGauges() *gauges { return &gauges{} }

// set replaces what was found before.
func (g *gauges) set(found []sweep.Leftover) {
	totals := map[types.NamespacedName]total{}
	for i := range found {
		name := types.NamespacedName{Namespace: found[i].Namespace, Name: found[i].Network}
		sum := totals[name]
		sum.disks++
		sum.bytes += found[i].Bytes
		totals[name] = sum
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	g.totals = totals
}

// forget leaves out all: what is not known has no value.
func (g *gauges) forget() {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.totals = nil
}

// Describe names the metrics.
func (*gauges) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- disksDescription
	descriptions <- bytesDescription
}

// Collect tells their values.
func (g *gauges) Collect(values chan<- prometheus.Metric) {
	g.lock.Lock()
	defer g.lock.Unlock()
	for name, sum := range g.totals {
		values <- prometheus.MustNewConstMetric(disksDescription, prometheus.GaugeValue, float64(sum.disks), name.Namespace, name.Name)
		values <- prometheus.MustNewConstMetric(bytesDescription, prometheus.GaugeValue, float64(sum.bytes), name.Namespace, name.Name)
	}
}
