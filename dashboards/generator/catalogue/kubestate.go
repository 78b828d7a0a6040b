// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

// labelled is where the labels of a metric come from.
type labelled struct {
	LabelsFromPath map[string][]string `yaml:"labelsFromPath"`
	LabelName      string              `yaml:"labelName"`
}

// kubeState is what a configuration of kube-state-metrics makes of our kinds.
func kubeState(file string) ([]Metric, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var config struct {
		Spec struct {
			Resources []struct {
				MetricNamePrefix string `yaml:"metricNamePrefix"`
				labelled         `yaml:",inline"`
				Metrics          []struct {
					Name string `yaml:"name"`
					Help string `yaml:"help"`
					Each struct {
						Info     labelled `yaml:"info"`
						StateSet labelled `yaml:"stateSet"`
					} `yaml:"each"`
				} `yaml:"metrics"`
			} `yaml:"resources"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var metrics []Metric
	for _, resource := range config.Spec.Resources {
		for _, one := range resource.Metrics {
			metric := Metric{
				Name: resource.MetricNamePrefix + "_" + one.Name, Kind: Gauge,
				Labels: slices.Sorted(maps.Keys(resource.LabelsFromPath)), Help: one.Help,
			}
			for _, own := range []labelled{one.Each.Info, one.Each.StateSet} {
				metric.Labels = append(metric.Labels, slices.Sorted(maps.Keys(own.LabelsFromPath))...)
				if own.LabelName != "" {
					metric.Labels = append(metric.Labels, own.LabelName)
				}
			}
			metrics = append(metrics, metric)
		}
	}
	if len(metrics) == 0 {
		return nil, fmt.Errorf("%s makes no metrics", file)
	}
	return metrics, nil
}
