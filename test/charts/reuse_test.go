// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// helm upgrade --reuse-values takes the values of the earlier release and no defaults:
// of a chart that did not have a value yet, a chart makes what it makes with the
// default.
func TestReusedValuesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chart     string
		arguments []string
	}{
		"operator": {operatorChart, []string{
			"--api-versions=monitoring.coreos.com/v1/PodMonitor", "--api-versions=monitoring.coreos.com/v1/PrometheusRule",
		}},
		"network": {testnetChart, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := string(render(t, test.chart, test.arguments...))
			values := defaults(t, test.chart)
			for _, missing := range without(values) {
				chart := ofValues(t, test.chart, missing.values)
				if got := string(render(t, chart, test.arguments...)); got != want {
					t.Errorf("without %s, the chart makes\n%s\nwant\n%s", missing.what, got, want)
				}
			}
		})
	}
}

// What somebody set stays, also where it is empty, and what is taken away of resources
// stays away.
func TestReusedValuesStay(t *testing.T) {
	t.Parallel()
	set := []string{"--set", "rules.enabled=false,dashboards.enabled=false,resources.limits=null,metrics.podMonitor.enabled=false"}
	set = append(set, "--api-versions=monitoring.coreos.com/v1/PrometheusRule")
	want := string(render(t, operatorChart, set...))
	values := defaults(t, operatorChart)
	values["rules"] = map[string]any{"enabled": false}
	values["dashboards"] = map[string]any{"enabled": false}
	values["metrics"] = map[string]any{"podMonitor": map[string]any{"enabled": false}}
	delete(values["resources"].(map[string]any), "limits")
	chart := ofValues(t, operatorChart, values)
	if got := string(render(t, chart, "--api-versions=monitoring.coreos.com/v1/PrometheusRule")); got != want {
		t.Errorf("the chart makes\n%s\nwant\n%s", got, want)
	}
}

// defaults are the values of a chart.
func defaults(t *testing.T, chart string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// missing are values without one of them.
type missing struct {
	what   string
	values map[string]any
}

// without are values each without one: a value, or a field of one. A network always
// says its preset, which is not in any release without it.
func without(values map[string]any) []missing {
	var all []missing
	for name, value := range values {
		if name == "preset" || name == "resources" {
			continue
		}
		less := maps.Clone(values)
		delete(less, name)
		all = append(all, missing{name, less})
		fields, _ := value.(map[string]any)
		for field := range fields {
			less, part := maps.Clone(values), maps.Clone(fields)
			delete(part, field)
			less[name] = part
			all = append(all, missing{name + "." + field, less})
		}
	}
	return all
}

// ofValues is a chart that has these defaults and no others, as for a release whose
// values are reused.
func ofValues(t *testing.T, chart string, values map[string]any) string {
	t.Helper()
	content, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(chart))
	if err := os.CopyFS(to, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "values.yaml"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
