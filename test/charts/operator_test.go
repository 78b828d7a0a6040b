// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// renderOperator renders the operator's chart and decodes what comes out. A
// field that its kind does not have is an error.
func renderOperator(t *testing.T, arguments ...string) []runtime.Object {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()

	var objects []runtime.Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(render(t, operatorChart, arguments...))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		objects = append(objects, object)
	}
}

// ofType are the objects of one type.
func ofType[T runtime.Object](objects []runtime.Object) []T {
	var found []T
	for _, object := range objects {
		if object, ok := object.(T); ok {
			found = append(found, object)
		}
	}
	return found
}

func TestTheOperatorsObjectsAreWellFormed(t *testing.T) {
	everything := writeValues(t, `
fullnameOverride: everything
replicas: 2
imagePullSecrets: [{name: registry}]
podMonitorLabels: {release: monitoring}
serviceAccount: {annotations: {a: b}}
dashboards: {namespace: monitoring, annotations: {grafana_folder: Shardyard}}
kubeStateMetrics: {enabled: true}
networkPolicy: {enabled: true}
podLabels: {a: b}
podAnnotations: {a: b}
priorityClassName: system-cluster-critical
nodeSelector: {a: b}
tolerations: [{key: a, operator: Exists}]
affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
  {weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]
`)
	least, most := renderOperator(t), renderOperator(t, "--values", everything)
	// The budget, the policy and the configuration of kube-state-metrics.
	if got, want := len(most), len(least)+3; got != want {
		t.Errorf("all values make %d objects, want %d", got, want)
	}
}

func TestTheChartHoldsEveryCRD(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no definitions: %v", err)
	}
	held := map[string]apiextensionsv1.CustomResourceDefinitionSpec{}
	for _, definition := range ofType[*apiextensionsv1.CustomResourceDefinition](renderOperator(t)) {
		held[definition.Name] = definition.Spec
	}
	if len(held) != len(files) {
		t.Errorf("the chart holds %d definitions, want %d", len(held), len(files))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(held[want.Name], want.Spec) {
			t.Errorf("the chart's definition of %s differs from the one of config/crd", want.Name)
		}
	}
}

func TestTheKustomizationHoldsTheCRDsOfTheChart(t *testing.T) {
	content, err := os.ReadFile("../../config/crd/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.UnmarshalStrict(content, &kustomization); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, file := range files {
		want = append(want, "bases/"+filepath.Base(file))
	}
	if !slices.Equal(kustomization.Resources, want) {
		t.Errorf("the kustomization holds %v, want %v", kustomization.Resources, want)
	}
}

func TestRolesNameEveryVerb(t *testing.T) {
	roles := ofType[*rbacv1.ClusterRole](renderOperator(t))
	if len(roles) == 0 {
		t.Fatal("the chart holds no roles")
	}
	for _, role := range roles {
		if len(role.Rules) == 0 {
			t.Errorf("%s has no rules", role.Name)
		}
		for _, rule := range role.Rules {
			named := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs)
			if slices.Contains(named, rbacv1.VerbAll) {
				t.Errorf("%s has a wildcard: %v", role.Name, rule)
			}
		}
	}
}
