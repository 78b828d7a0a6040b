// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Validators meet the restricted profile in all but the settings of the network
// stack that they ask for.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	want := map[v1alpha1.TCPProfile][]string{
		v1alpha1.TCPProfileNodeDefault:    nil,
		v1alpha1.TCPProfileHighThroughput: {"forbidden sysctls"},
	}
	for profile, violations := range want {
		for _, fixture := range []*fixture{quickstart(t), everything(t)} {
			fixture.network.Spec.TCP.Profile = profile
			for _, set := range fixture.statefulSets(t) {
				template := &set.Spec.Template
				result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
				if !slices.Equal(result.ForbiddenReasons, violations) {
					t.Errorf("with %s, %s violates %q (%s), want %q",
						profile, set.Name, result.ForbiddenReasons, result.ForbiddenDetail(), violations)
				}
			}
			probe := resources.NewImageProbe(fixture.network, "shardnode:next")
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &probe.ObjectMeta, &probe.Spec))
			if !result.Allowed {
				t.Errorf("with %s, %s violates %s", profile, probe.Name, result.ForbiddenDetail())
			}
		}
	}
}

// The pods of a benchmark meet the restricted profile, and have no rights in the
// cluster.
func TestPodSecurityOfRecorders(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	inputs := resources.RecorderInputs{Image: "operator:test"}
	for _, pod := range []*corev1.Pod{
		resources.NewRecorder(newBenchmark(), 1, inputs), resources.NewJudge(newBenchmark(), inputs),
		resources.NewReader(newBenchmark(), inputs.Image),
		resources.NewUploader(newUploaded(v1alpha1.BenchmarkUpload{URL: "gs://kept", SecretName: "writer"}), inputs),
	} {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			t.Errorf("%s violates %s", pod.Name, result.ForbiddenDetail())
		}
		if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || *mounts {
			t.Errorf("%s has a token", pod.Name)
		}
		if pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s is started again: %s", pod.Name, pod.Spec.RestartPolicy)
		}
	}
}
