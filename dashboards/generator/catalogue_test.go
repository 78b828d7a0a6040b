// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"testing"

	"github.com/shardyard/shardyard/dashboards/generator/catalogue"
)

// others are the series that rules and runbooks use and nothing of this
// repository names: those of the operator's libraries, which the tests of the
// charts find in a running one, of kubelets, and of Prometheus itself.
var others = map[string]catalogue.Series{
	"controller_runtime_active_workers":                {Kind: catalogue.Gauge, Labels: []string{"controller"}},
	"controller_runtime_max_concurrent_reconciles":     {Kind: catalogue.Gauge, Labels: []string{"controller"}},
	"controller_runtime_reconcile_errors_total":        {Kind: catalogue.Counter, Labels: []string{"controller"}},
	"controller_runtime_reconcile_total":               {Kind: catalogue.Counter, Labels: []string{"controller", "result"}},
	"controller_runtime_reconcile_time_seconds_bucket": {Kind: catalogue.Counter, Labels: []string{"controller"}},
	"rest_client_requests_total":                       {Kind: catalogue.Counter, Labels: []string{"code", "method"}},
	"workqueue_depth":                                  {Kind: catalogue.Gauge, Labels: []string{"controller"}},
	"workqueue_longest_running_processor_seconds":      {Kind: catalogue.Gauge, Labels: []string{"controller"}},
	"workqueue_queue_duration_seconds_bucket":          {Kind: catalogue.Counter, Labels: []string{"controller"}},
	"kubelet_volume_stats_available_bytes":             {Kind: catalogue.Gauge, Labels: []string{"persistentvolumeclaim"}},
	"kubelet_volume_stats_capacity_bytes":              {Kind: catalogue.Gauge, Labels: []string{"persistentvolumeclaim"}},
	"up":                                               {Kind: catalogue.Gauge, Labels: []string{"job"}},
}

// exported is every series of the repository's catalogue.
func exported(t *testing.T) map[string]catalogue.Series {
	t.Helper()
	sources, err := catalogue.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	return catalogue.Of(sources)
}

// known is every series that rules and runbooks may use.
func known(t *testing.T) map[string]catalogue.Series {
	t.Helper()
	all := exported(t)
	maps.Copy(all, others)
	return all
}
