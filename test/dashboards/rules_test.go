// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/shardyard/shardyard/test/dashboards"
)

// rulesConfig scrapes nodes every second, and evaluates the rules as often.
const rulesConfig = `
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [%q]
scrape_configs:
  - job_name: shardnode
    honor_labels: true
    static_configs:
      - targets: [%s]
`

// evaluateRules has a Prometheus evaluate the rules about a network.
func evaluateRules(t *testing.T, network *runtime) *dashboards.Prometheus {
	t.Helper()
	file, err := filepath.Abs("../../dashboards/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, validator := range network.Validators {
		addresses = append(addresses, validator.HTTP)
	}
	prometheus, stop, err := dashboards.Serve(t.TempDir(), fmt.Sprintf(rulesConfig, file, strings.Join(addresses, ", ")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return prometheus
}

// checkRules checks that every rule can be evaluated, that what is to be recorded
// is there, and that no alert is about to be raised: the network is well.
func checkRules(t *testing.T, prometheus *dashboards.Prometheus) {
	t.Helper()
	rules := evaluated(t, prometheus)
	for i := range rules.Recording {
		name := rules.Recording[i].Name
		query := dashboards.Query{Panel: "rules", Legend: name, Expression: name + `{network="seen"}`, Instant: true}
		eventually(t, query.String(), func() (bool, error) { return prometheus.HasData(t.Context(), query) })
	}
	if len(rules.Recording) == 0 || len(rules.Alerting) == 0 {
		t.Errorf("%d rules record something, and %d are alerts", len(rules.Recording), len(rules.Alerting))
	}
	alerts := evaluated(t, prometheus).Alerting
	for i := range alerts {
		if alert := &alerts[i]; alert.State != string(v1.AlertStateInactive) {
			t.Errorf("%s is %s: %s", alert.Name, alert.State, alert.Query)
		}
	}
}

// evaluated are the rules once all of them have been evaluated, without errors.
func evaluated(t *testing.T, prometheus *dashboards.Prometheus) *dashboards.Rules {
	t.Helper()
	var rules *dashboards.Rules
	eventually(t, "all rules to be evaluated", func() (evaluated bool, err error) {
		rules, err = prometheus.EvaluatedRules(t.Context())
		return err == nil && len(rules.Of(v1.RuleHealthUnknown)) == 0, err
	})
	for _, rule := range rules.Of(v1.RuleHealthBad) {
		t.Error(rule)
	}
	return rules
}
