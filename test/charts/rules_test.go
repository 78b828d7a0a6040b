// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/test/apiserver"
)

// prometheusRuleCRD names the file of the kind PrometheusRule.
const prometheusRuleCRD = "PROMETHEUSRULE_CRD"

// rulesFile are the rules outside the chart.
const rulesFile = "../../dashboards/rules.yaml"

// installPrometheusRules has the API server serve the kind PrometheusRule.
func (c cluster) installPrometheusRules(t *testing.T) {
	t.Helper()
	file := os.Getenv(prometheusRuleCRD)
	if file == "" {
		t.Fatalf("%s is not set: it names the file of the CRD; make test-charts sets it", prometheusRuleCRD)
	}
	if err := apiserver.InstallCRDs(c.config, file); err != nil {
		t.Fatal(err)
	}
}

// checkRules checks that the API server holds all of the rules, and that
// Prometheus finds them.
func (c cluster) checkRules(t *testing.T, namespace, name string) {
	t.Helper()
	var made unstructured.Unstructured
	made.SetGroupVersionKind(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"})
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &made); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(made.Object["spec"], want) {
		t.Errorf("the API server holds %v\nwant %v", made.Object["spec"], want)
	}
	if made.GetLabels()["release"] != "monitoring" {
		t.Errorf("the labels are %v", made.GetLabels())
	}
}

// operatorMetric is the name of a series of the operator's libraries.
var operatorMetric = regexp.MustCompile(`\b(?:controller_runtime|workqueue|rest_client)_[a-z_]+`)

// checkOperatorMetrics checks that the operator exports what the rules and the
// runbooks ask of it.
func checkOperatorMetrics(t *testing.T, exported string) {
	t.Helper()
	files, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, file := range append(files, rulesFile) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range operatorMetric.FindAllString(string(content), -1) {
			asked[name] = true
		}
	}
	if len(asked) == 0 {
		t.Error("nothing is asked of the operator")
	}
	for name := range asked {
		if !strings.Contains(exported, "\n"+name+"{") {
			t.Errorf("the operator exports no %s", name)
		}
	}
	for _, controller := range []string{"shardnetwork", "benchmark", "benchmarkschedule", "fault", "nodetuning"} {
		series := `controller_runtime_max_concurrent_reconciles{controller="` + controller + `"}`
		if !strings.Contains(exported, "\n"+series+" ") {
			t.Errorf("the operator exports no %s", series)
		}
	}
}
