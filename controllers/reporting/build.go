// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shardyard/shardyard/internal/version"
)

var buildDescription = prometheus.NewDesc("shardyard_build_info",
	"1, with the version of the operator, the commit that its release was made from, and the version of Go that compiled it.",
	[]string{"version", "commit", "go_version"}, nil)

// RegisterBuild has a registry tell a version, as a metric that is always 1.
func RegisterBuild(registry prometheus.Registerer, built version.Info) error {
	return registry.Register(build{built})
}

// build is the metric of a version.
type build struct {
	version.Info
}

// Describe names the metric.
func (build) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- buildDescription
}

// Collect tells its value.
func (b build) Collect(values chan<- prometheus.Metric) {
	values <- prometheus.MustNewConstMetric(buildDescription, prometheus.GaugeValue, 1, b.Version, b.Commit, b.Go)
}
