// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/shardyard/shardyard/dashboards/generator/rules"
)

// others are the series that rules and runbooks use and nothing of this
// repository names: those of the operator's libraries, which the tests of the
// charts find in a running one, of kubelets, and of Prometheus itself.
var others = map[string]series{
	"controller_runtime_active_workers":            {"gauge", []string{"controller"}},
	"controller_runtime_max_concurrent_reconciles": {"gauge", []string{"controller"}},
	"controller_runtime_reconcile_errors_total":    {"counter", []string{"controller"}},
	"controller_runtime_reconcile_total":           {"counter", []string{"controller", "result"}},
	"rest_client_requests_total":                   {"counter", []string{"code", "method"}},
	"workqueue_depth":                              {"gauge", []string{"controller"}},
	"workqueue_longest_running_processor_seconds":  {"gauge", []string{"controller"}},
	"workqueue_queue_duration_seconds_bucket":      {"counter", []string{"controller"}},
	"kubelet_volume_stats_available_bytes":         {"gauge", []string{"persistentvolumeclaim"}},
	"kubelet_volume_stats_capacity_bytes":          {"gauge", []string{"persistentvolumeclaim"}},
	"up":                                           {"gauge", []string{"job"}},
}

// reported is every series that kube-state-metrics makes of our kinds.
func reported(t *testing.T) map[string]series {
	t.Helper()
	content, err := os.ReadFile("../kube-state-metrics/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type source struct {
		LabelsFromPath map[string][]string `yaml:"labelsFromPath"`
		LabelName      string              `yaml:"labelName"`
	}
	var config struct {
		Spec struct {
			Resources []struct {
				MetricNamePrefix string              `yaml:"metricNamePrefix"`
				LabelsFromPath   map[string][]string `yaml:"labelsFromPath"`
				Metrics          []struct {
					Name string `yaml:"name"`
					Each struct {
						Info     source `yaml:"info"`
						StateSet source `yaml:"stateSet"`
					} `yaml:"each"`
				} `yaml:"metrics"`
			} `yaml:"resources"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	all := map[string]series{}
	for _, resource := range config.Spec.Resources {
		for _, metric := range resource.Metrics {
			one := series{kind: "gauge", labels: slices.Collect(maps.Keys(resource.LabelsFromPath))}
			one.labels = slices.AppendSeq(one.labels, maps.Keys(metric.Each.Info.LabelsFromPath))
			one.labels = slices.AppendSeq(one.labels, maps.Keys(metric.Each.StateSet.LabelsFromPath))
			if metric.Each.StateSet.LabelName != "" {
				one.labels = append(one.labels, metric.Each.StateSet.LabelName)
			}
			all[resource.MetricNamePrefix+"_"+metric.Name] = one
		}
	}
	if len(all) == 0 {
		t.Fatal("kube-state-metrics is told of no metrics")
	}
	return all
}

// catalogue is every series that rules may use.
func catalogue(t *testing.T) map[string]series {
	t.Helper()
	all := contract(t)
	maps.Copy(all, reported(t))
	maps.Copy(all, others)
	for _, group := range rules.All().Groups {
		for _, rule := range group.Rules {
			if rule.Record != "" {
				all[rule.Record] = series{kind: "gauge"}
			}
		}
	}
	return all
}
