// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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
	recorded := 0
	rules := evaluated(t, prometheus)
	for _, rule := range rules {
		if rule.Type != "recording" {
			continue
		}
		recorded++
		query := dashboards.Query{Panel: "rules", Legend: rule.Name, Expression: rule.Name + `{network="seen"}`, Instant: true}
		eventually(t, query.String(), func() (bool, error) { return prometheus.HasData(t.Context(), query) })
	}
	if recorded == 0 || recorded == len(rules) {
		t.Errorf("%d of %d rules record something", recorded, len(rules))
	}
	for _, rule := range evaluated(t, prometheus) {
		if rule.Type == "alerting" && rule.State != "inactive" {
			t.Errorf("%s is %s: %s", rule.Name, rule.State, rule.Query)
		}
	}
}

// evaluated are the rules once all of them have been evaluated, without errors.
func evaluated(t *testing.T, prometheus *dashboards.Prometheus) []dashboards.Rule {
	t.Helper()
	var rules []dashboards.Rule
	eventually(t, "all rules to be evaluated", func() (evaluated bool, err error) {
		rules, err = prometheus.Rules(t.Context())
		for _, rule := range rules {
			if rule.Health == "unknown" {
				return false, err
			}
		}
		return true, err
	})
	for _, rule := range rules {
		if rule.Health != "ok" {
			t.Errorf("%s is %s: %s", rule.Name, rule.Health, rule.LastError)
		}
	}
	return rules
}
