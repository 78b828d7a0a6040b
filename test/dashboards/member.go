// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// relabelling is a rule of the Prometheus operator, whose names differ from those of
// Prometheus.
type relabelling struct {
	SourceLabels []string `json:"sourceLabels"`
	Regex        string   `json:"regex"`
	Action       string   `json:"action"`
}

// RemoteWrite is the part of an agent's configuration by which it writes to a
// Prometheus what the agents of members write by a file of values for the monitoring
// chart.
func RemoteWrite(values, prometheus string) (string, error) {
	content, err := os.ReadFile(values)
	if err != nil {
		return "", err
	}
	var read struct {
		Stack struct {
			Prometheus struct {
				PrometheusSpec struct {
					RemoteWrite []struct {
						WriteRelabelConfigs []relabelling `json:"writeRelabelConfigs"`
						SendExemplars       bool          `json:"sendExemplars"`
					} `json:"remoteWrite"`
				} `json:"prometheusSpec"`
			} `json:"prometheus"`
		} `json:"kube-prometheus-stack"`
	}
	if err := yaml.Unmarshal(content, &read); err != nil {
		return "", fmt.Errorf("%s: %w", values, err)
	}
	writes := read.Stack.Prometheus.PrometheusSpec.RemoteWrite
	if len(writes) != 1 || len(writes[0].WriteRelabelConfigs) == 0 {
		return "", errors.New(values + " does not say what is written")
	}
	var rules []map[string]any
	for _, rule := range writes[0].WriteRelabelConfigs {
		rules = append(rules, map[string]any{"source_labels": rule.SourceLabels, "regex": rule.Regex, "action": rule.Action})
	}
	section, err := yaml.Marshal(map[string]any{"remote_write": []any{map[string]any{
		"url": prometheus + "/api/v1/write", "write_relabel_configs": rules, "send_exemplars": writes[0].SendExemplars,
		// Sooner than every five seconds: a test waits for it.
		"queue_config": map[string]any{"batch_send_deadline": "500ms"},
	}}})
	return string(section), err
}
