// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/test/apiserver"
)

const (
	monitoringChart = "../../charts/monitoring"
	memberValues    = monitoringChart + "/member.yaml"
	stack           = "kube-prometheus-stack"
	stackSpec       = stack + ".prometheus.prometheusSpec."
)

// member are the arguments that README.md gives a member.
var member = []string{
	"--values", memberValues,
	"--set", stackSpec + "externalLabels.cluster=us-east4",
	"--set", stackSpec + "remoteWrite[0].url=https://prometheus.example.org/api/v1/write",
}

// standIn has what the monitoring chart depends on, which is not in this
// repository: charts of these names and versions, each with a ConfigMap of the values
// that it gets.
func standIn(t *testing.T) string {
	t.Helper()
	chart := filepath.Join(t.TempDir(), "monitoring")
	if err := os.CopyFS(chart, os.DirFS(monitoringChart)); err != nil {
		t.Fatal(err)
	}
	// What a user has fetched is left out.
	if err := os.RemoveAll(filepath.Join(chart, "charts")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(chart, "Chart.lock")); err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		Dependencies []struct{ Name, Version string }
	}
	content, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &metadata); err != nil || len(metadata.Dependencies) == 0 {
		t.Fatalf("the chart depends on nothing: %v", err)
	}
	for _, dependency := range metadata.Dependencies {
		folder := filepath.Join(chart, "charts", dependency.Name)
		if err := os.MkdirAll(filepath.Join(folder, "templates"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"Chart.yaml": fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", dependency.Name, dependency.Version),
			"templates/values.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values-of-{{ .Chart.Name }}}\n" +
				"data: {values: {{ toJson .Values | quote }}}\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return chart
}

// renderMonitoring renders the monitoring chart, and returns the ConfigMaps by name.
func renderMonitoring(t *testing.T, arguments ...string) map[string]corev1.ConfigMap {
	t.Helper()
	found := map[string]corev1.ConfigMap{}
	for _, document := range bytes.Split(render(t, standIn(t), arguments...), []byte("\n---\n")) {
		var object corev1.ConfigMap
		if err := yaml.Unmarshal(document, &object); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if object.Kind != "" {
			found[object.Name] = object
		}
	}
	return found
}

// valuesOf are the values that a chart gets that the monitoring chart depends on.
func valuesOf(t *testing.T, objects map[string]corev1.ConfigMap, chart string, into any) {
	t.Helper()
	values, found := objects["values-of-"+chart]
	if !found {
		t.Fatalf("%s is not installed", chart)
	}
	if err := yaml.Unmarshal([]byte(values.Data["values"]), into); err != nil {
		t.Fatal(err)
	}
}

// stackValues are those values of the stack that belong together.
type stackValues struct {
	Prometheus struct {
		AgentMode      bool
		PrometheusSpec map[string]any
	}
	KubeStateMetrics struct {
		ExtraArgs    []string
		Volumes      []corev1.Volume
		VolumeMounts []corev1.VolumeMount
		RBAC         struct{ ExtraRules []rbacv1.PolicyRule }
	} `json:"kube-state-metrics"`
	Grafana struct {
		Enabled               *bool
		AdminPassword         string
		AdditionalDataSources []struct{ Name, UID, Type, URL string }
		Sidecar               struct {
			Datasources struct {
				ExemplarTraceIDDestinations struct{ DatasourceUID, TraceIDLabelName string }
			}
		}
	}
}

// Home has a Prometheus that stores, and kube-state-metrics and Grafana find what
// this chart and the operator's have for them.
func TestMonitoringAtHome(t *testing.T) {
	objects := renderMonitoring(t)
	var values stackValues
	valuesOf(t, objects, stack, &values)
	if values.Prometheus.AgentMode || values.Prometheus.PrometheusSpec["enableRemoteWriteReceiver"] != true {
		t.Errorf("Prometheus is %+v, want one that agents write to", values.Prometheus)
	}
	if values.Grafana.AdminPassword != "" {
		t.Error("Grafana's password is known to everybody")
	}

	const key = "config.yaml"
	reporter := values.KubeStateMetrics
	if len(reporter.Volumes) != 1 || len(reporter.VolumeMounts) != 1 || reporter.Volumes[0].Name != reporter.VolumeMounts[0].Name {
		t.Fatalf("kube-state-metrics has the volumes %+v at %+v", reporter.Volumes, reporter.VolumeMounts)
	}
	config, found := objects[reporter.Volumes[0].ConfigMap.Name]
	if want := "--custom-resource-state-config-file=" + reporter.VolumeMounts[0].MountPath + "/" + key; !found ||
		!slices.Contains(reporter.ExtraArgs, want) {
		t.Errorf("kube-state-metrics has the arguments %v and the ConfigMap %v, want %s", reporter.ExtraArgs, config.Name, want)
	}
	content, err := os.ReadFile("../../dashboards/kube-state-metrics/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(config.Data[key]) != strings.TrimSpace(string(content)) {
		t.Error("the configuration of kube-state-metrics is another one than in dashboards/")
	}

	var traces struct{ FullnameOverride string }
	valuesOf(t, objects, "tempo", &traces)
	if sources := values.Grafana.AdditionalDataSources; len(sources) != 1 ||
		!strings.HasPrefix(sources[0].URL, "http://"+traces.FullnameOverride+":") {
		t.Errorf("Grafana asks %+v, and Tempo is %s", sources, traces.FullnameOverride)
	}
}

// kube-state-metrics reports nothing of a kind that it may not list and watch.
func TestMonitoringMayReadWhatItReports(t *testing.T) {
	objects := renderMonitoring(t)
	var values stackValues
	valuesOf(t, objects, stack, &values)
	var config struct {
		Spec struct {
			Resources []struct{ GroupVersionKind schema.GroupVersionKind }
		}
	}
	text := objects["shardyard-monitoring-kube-state-metrics"].Data["config.yaml"]
	if err := yaml.Unmarshal([]byte(text), &config); err != nil || len(config.Spec.Resources) == 0 {
		t.Fatalf("kube-state-metrics reports nothing: %v", err)
	}
	readme, err := os.ReadFile(operatorChart + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var reported []string
	for _, of := range config.Spec.Resources {
		resource, _ := meta.UnsafeGuessKindToResource(of.GroupVersionKind)
		reported = append(reported, resource.Resource)
		if !mayWatch(values.KubeStateMetrics.RBAC.ExtraRules, resource) {
			t.Errorf("kube-state-metrics may not list and watch %s", resource.GroupResource())
		}
	}
	slices.Sort(reported)
	if want := "resources: [" + strings.Join(reported, ", ") + "]"; !strings.Contains(string(readme), want) {
		t.Errorf("the README of the operator's chart gives another kube-state-metrics other rights than %s", want)
	}
}

// mayWatch is whether rules give the right to list and watch a resource.
func mayWatch(rules []rbacv1.PolicyRule, resource schema.GroupVersionResource) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, resource.Group) && slices.Contains(rule.Resources, resource.Resource) &&
			slices.Contains(rule.Verbs, "list") && slices.Contains(rule.Verbs, "watch")
	})
}

// What graphs ask Prometheus for leads to the traces in Tempo.
func TestMonitoringLeadsFromGraphsToTraces(t *testing.T) {
	var values stackValues
	valuesOf(t, renderMonitoring(t), stack, &values)
	if features := values.Prometheus.PrometheusSpec["enableFeatures"]; fmt.Sprint(features) != "[exemplar-storage]" {
		t.Errorf("Prometheus has the features %v, and would store no exemplars", features)
	}
	to, sources := values.Grafana.Sidecar.Datasources.ExemplarTraceIDDestinations, values.Grafana.AdditionalDataSources
	if len(sources) != 1 || to.DatasourceUID != sources[0].UID || to.TraceIDLabelName != "trace_id" {
		t.Errorf("exemplars lead to %+v, and Grafana asks %+v", to, sources)
	}
}

// A member has an agent, and nothing that home has for all.
func TestMonitoringOfAMember(t *testing.T) {
	objects := renderMonitoring(t, member...)
	var values stackValues
	valuesOf(t, objects, stack, &values)
	if !values.Prometheus.AgentMode || values.Prometheus.PrometheusSpec["enableRemoteWriteReceiver"] != false {
		t.Errorf("Prometheus is %+v, want an agent", values.Prometheus)
	}
	if values.Grafana.Enabled == nil || *values.Grafana.Enabled {
		t.Error("a member has a Grafana")
	}
	if len(objects) != 1 {
		t.Errorf("%d things are made, want the stack alone", len(objects))
	}
}

// An agent that would write nowhere, or what nobody can tell apart, or a password to
// whoever listens, is refused.
func TestMonitoringRefusesAMemberThat(t *testing.T) {
	chart := standIn(t)
	for what, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"has no name":         {append(slices.Clone(member[:2]), member[4:]...), "externalLabels.cluster is not set"},
		"writes nowhere":      {member[:4], "remoteWrite[0].url is not set"},
		"writes to nobody":    {append(slices.Clone(member[:4]), "--set", stackSpec+"remoteWrite=null"), "remoteWrite is empty"},
		"is overheard":        {append(slices.Clone(member), "--set", stackSpec+"remoteWrite[0].url=http://home"), "over https alone"},
		"has an unknown part": {append(slices.Clone(member), "--set", "loki.enabled=true"), "loki"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := newHelm(t, nil).run(append([]string{"template", "test", chart}, test.arguments...)...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %s", err, test.want)
			}
		})
	}
}

// With what it depends on, nothing is wrong with the chart.
func TestMonitoringIsWellFormed(t *testing.T) {
	newHelm(t, nil).mustRun(t, "lint", "--strict", "--quiet", standIn(t))
}

// The API server takes the fields that the stack hands on to the Prometheus operator
// as they are, in the kinds of that operator.
func TestMonitoringSetsWhatThePrometheusOperatorKnows(t *testing.T) {
	cluster := startCluster(t)
	rules := os.Getenv(prometheusRuleCRD)
	if rules == "" {
		t.Fatalf("%s is not set: it names the file of the CRD; make test-charts sets it", prometheusRuleCRD)
	}
	for kind, test := range map[string]struct {
		plural    string
		arguments []string
		// others are fields that the stack makes from others.
		others []string
	}{
		"Prometheus":      {"prometheuses", nil, nil},
		"PrometheusAgent": {"prometheusagents", member, []string{"retention"}},
	} {
		t.Run(kind, func(t *testing.T) {
			file := filepath.Join(filepath.Dir(rules), "monitoring.coreos.com_"+test.plural+".yaml")
			if err := apiserver.InstallCRDs(cluster.config, file); err != nil {
				t.Fatal(err)
			}
			var values stackValues
			valuesOf(t, renderMonitoring(t, test.arguments...), stack, &values)
			object := &unstructured.Unstructured{Object: map[string]any{"spec": specOf(values.Prometheus.PrometheusSpec, test.others)}}
			object.SetGroupVersionKind(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: kind})
			if kind == "PrometheusAgent" {
				object.SetAPIVersion("monitoring.coreos.com/v1alpha1")
			}
			object.SetNamespace(metav1.NamespaceDefault)
			object.SetName("monitoring")
			if err := client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict).Create(t.Context(), object); err != nil {
				t.Error(err)
			}
		})
	}
}

// specOf is what the stack makes of its values, as far as this chart sets them.
func specOf(values map[string]any, left []string) map[string]any {
	spec := map[string]any{}
	for name, value := range values {
		switch {
		case value == nil || value == "" || slices.Contains(left, name), strings.HasSuffix(name, "NilUsesHelmValues"):
		case strings.HasSuffix(name, "ExternalLabelNameClear"):
			spec[strings.TrimSuffix(name, "Clear")] = ""
		case name == "storageSpec":
			spec["storage"] = value
		default:
			spec[name] = value
		}
	}
	return spec
}
