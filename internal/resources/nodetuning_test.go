// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

func highThroughput() *v1alpha1.NodeTuning {
	return &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: "high-throughput"},
		Spec: v1alpha1.NodeTuningSpec{
			NodeSelector: map[string]v1alpha1.LabelValue{resources.LabelMachineType: "c4d-highmem-16"},
			Tolerations:  []v1alpha1.Toleration{{Key: resources.TaintMachineType, Operator: v1alpha1.TolerationExists}},
		},
	}
}

func TestTuningDaemonSet(t *testing.T) {
	t.Parallel()
	set := resources.NewTuningDaemonSet(
		highThroughput(), "shardyard-node-tuning", "ghcr.io/shardyard/operator:0.1.0", `{"rmemMaxBytes":134217728}`)
	restoring := resources.NewRestoringDaemonSet(
		highThroughput(), "shardyard-node-tuning", "ghcr.io/shardyard/operator:0.1.0", []string{"machine-1", "machine-2"})
	checkGolden(t, "nodetuning.yaml", []resources.Object{set, restoring})
}

// The agents are the one exception from the restricted profile. This is all
// that they have beyond it.
func TestWhatAgentsMayDo(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	set := resources.NewTuningDaemonSet(highThroughput(), "shardyard-node-tuning", "operator:test", "{}")
	template := &set.Spec.Template
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	want := []string{
		"host namespaces", "hostPort", "restricted volume types", "runAsNonRoot != true", "runAsUser=0", "unrestricted capabilities",
	}
	got := slices.Sorted(slices.Values(result.ForbiddenReasons))
	if !slices.Equal(got, want) {
		t.Errorf("an agent violates %q (%s), want %q", got, result.ForbiddenDetail(), want)
	}
	if token := template.Spec.AutomountServiceAccountToken; token == nil || *token {
		t.Error("an agent has a token of the cluster")
	}
}

// The longest name is valid wherever it ends up.
func TestLongestTuningName(t *testing.T) {
	t.Parallel()
	tuning := highThroughput()
	tuning.Name = "n" + strings.Repeat("x", 62)
	set := resources.NewTuningDaemonSet(tuning, "shardyard-node-tuning", "operator:test", "{}")
	checkName(t, set.Name, validation.IsDNS1123Label)
	checkLabels(t, set.Name, set.Labels)
	checkLabels(t, set.Name, set.Spec.Template.Labels)
	set = resources.NewRestoringDaemonSet(tuning, "shardyard-node-tuning", "operator:test", []string{"machine-1"})
	checkName(t, set.Name, validation.IsDNS1123Subdomain)
	checkLabels(t, set.Name, set.Labels)
	checkLabels(t, set.Name, set.Spec.Template.Labels)
}
