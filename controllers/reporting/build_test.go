// SPDX-License-Identifier: Apache-2.0

package reporting_test

import (
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shardyard/shardyard/controllers/reporting"
	"github.com/shardyard/shardyard/internal/version"
)

func TestRegisterBuild(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	if err := reporting.RegisterBuild(registry, version.Info{Version: "1.2.3", Commit: "abcdef", Go: "go1.26"}); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 1 || families[0].GetName() != "shardyard_build_info" || len(families[0].GetMetric()) != 1 {
		t.Fatalf("the metrics are %v", families)
	}
	metric := families[0].GetMetric()[0]
	labels := map[string]string{}
	for _, label := range metric.GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	want := map[string]string{"version": "1.2.3", "commit": "abcdef", "go_version": "go1.26"}
	if metric.GetGauge().GetValue() != 1 || !maps.Equal(labels, want) {
		t.Errorf("the metric is %v, want 1 with %v", metric, want)
	}
}
