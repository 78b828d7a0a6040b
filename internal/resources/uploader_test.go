// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newUploaded is a benchmark whose result goes to a bucket.
func newUploaded(upload v1alpha1.BenchmarkUpload) *v1alpha1.Benchmark {
	benchmark := newBenchmark()
	benchmark.Spec.Upload = &upload
	return benchmark
}

// credentialsOf are the Secrets that a pod has.
func credentialsOf(pod *corev1.Pod) []string {
	var names []string
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, from := range container.EnvFrom {
			names = append(names, "env "+from.SecretRef.Name)
		}
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil {
			names = append(names, "file "+volume.Secret.SecretName)
		}
	}
	return names
}

// A machine puts no variable of the pod, of which some are secrets, into its arguments.
func TestUploadersNameNoVariables(t *testing.T) {
	t.Parallel()
	upload := v1alpha1.BenchmarkUpload{URL: "s3://kept/$(AWS_SECRET_ACCESS_KEY)", SecretName: "writer"}
	uploader := resources.NewUploader(newUploaded(upload), resources.RecorderInputs{Image: "operator:test"})
	if arguments := uploader.Spec.Containers[0].Args; !slices.Contains(arguments, "--url=s3://kept/$$(AWS_SECRET_ACCESS_KEY)") {
		t.Errorf("it has the arguments %q", arguments)
	}
}

// The pod that uploads has the credentials and the result, and no other pod has them.
func TestCredentialsOfUploaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		upload  v1alpha1.BenchmarkUpload
		secrets []string
	}{
		"S3":             {v1alpha1.BenchmarkUpload{URL: "s3://kept/nightly", SecretName: "writer"}, []string{"env writer"}},
		"Google":         {v1alpha1.BenchmarkUpload{URL: "gs://kept", SecretName: "writer"}, []string{"file writer"}},
		"nobody":         {v1alpha1.BenchmarkUpload{URL: "s3://kept"}, nil},
		"ServiceAccount": {v1alpha1.BenchmarkUpload{URL: "gs://kept", ServiceAccountName: "uploads"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			benchmark := newUploaded(test.upload)
			uploader := resources.NewUploader(benchmark, resources.RecorderInputs{Image: "operator:test"})
			if got := credentialsOf(uploader); !slices.Equal(got, test.secrets) {
				t.Errorf("it has the Secrets %v, want %v", got, test.secrets)
			}
			if uploader.Spec.ServiceAccountName != test.upload.ServiceAccountName {
				t.Errorf("it is of %q", uploader.Spec.ServiceAccountName)
			}
			for _, mount := range uploader.Spec.Containers[0].VolumeMounts {
				if !mount.ReadOnly {
					t.Errorf("it writes to %s", mount.MountPath)
				}
			}
			for _, argument := range []string{"--url=" + test.upload.URL, "--artifact=/var/lib/shardyard/artifact"} {
				if !slices.Contains(uploader.Spec.Containers[0].Args, argument) {
					t.Errorf("it has the arguments %q, and lacks %s", uploader.Spec.Containers[0].Args, argument)
				}
			}
			inputs := resources.RecorderInputs{Image: "operator:test"}
			for _, pod := range []*corev1.Pod{
				resources.NewRecorder(benchmark, 1, inputs), resources.NewJudge(benchmark, inputs), resources.NewReader(benchmark, inputs.Image),
			} {
				if got := credentialsOf(pod); len(got) > 0 || pod.Spec.ServiceAccountName != "" {
					t.Errorf("%s has the Secrets %v, and is of %q", pod.Name, got, pod.Spec.ServiceAccountName)
				}
			}
		})
	}
}

// All benchmarks of a schedule go to the place of its template.
func TestUploadsOfSchedules(t *testing.T) {
	t.Parallel()
	schedule := &v1alpha1.BenchmarkSchedule{}
	want := v1alpha1.BenchmarkUpload{URL: "gs://kept/nightly", ServiceAccountName: "uploads"}
	schedule.Spec.Template.Spec.Upload = &want
	for minute := range int64(2) {
		made := resources.NewScheduledBenchmark(schedule, time.Unix(60*minute, 0), nil)
		if made.Spec.Upload == nil || *made.Spec.Upload != want {
			t.Errorf("the benchmark of minute %d uploads to %+v", minute, made.Spec.Upload)
		}
	}
}

// policyOf is the policy of a benchmark that selects a pod; of several there would be
// more that is open.
func policyOf(t *testing.T, benchmark *v1alpha1.Benchmark, pod *corev1.Pod) *networkingv1.NetworkPolicy {
	t.Helper()
	objects, err := resources.BenchmarkObjects(benchmark, topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	var found *networkingv1.NetworkPolicy
	for _, object := range objects {
		policy, ok := object.(*networkingv1.NetworkPolicy)
		if !ok {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		if err != nil {
			t.Fatal(err)
		}
		if !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if found != nil {
			t.Errorf("%s is of two policies", pod.Name)
		}
		found = policy
	}
	if found == nil {
		t.Fatalf("%s is of no policy", pod.Name)
	}
	return found
}

// The uploader reaches its bucket, names, and without a Secret who tells it who it is.
// Nobody reaches it, and the others of the benchmark reach no bucket.
func TestThePolicyOfUploaders(t *testing.T) {
	t.Parallel()
	const names, metadata = "*:53/UDP *:53/TCP", "169.254.0.0/16:80/TCP 169.254.0.0/16:988/TCP"
	for url, test := range map[string]struct {
		secret, want string
	}{
		"s3://kept/nightly?region=eu-central-1": {"writer", "*:443/TCP " + names},
		"gs://kept":                             {"", "*:443/TCP " + names + " " + metadata},
		"s3://kept?endpoint=http://store.minio.svc:9000&region=x":               {"writer", "*:9000/TCP " + names},
		"s3://kept?endpoint=https%3A%2F%2Fstore.example.com&region=x":           {"writer", "*:443/TCP " + names},
		"s3://kept?endpoint=http://store.example.com":                           {"writer", "*:80/TCP " + names},
		"s3://kept?endpoint=http://192.0.2.7:9000&region=x":                     {"writer", "192.0.2.7/32:9000/TCP " + names},
		"s3://kept?region=x&endpoint=https%3A%2F%2F%5B2001%3Adb8%3A%3A7%5D":     {"writer", "2001:db8::7/128:443/TCP " + names},
		"s3://kept?endpoint=http://store.minio.svc:90000&use_path_style=true":   {"writer", "*:80/TCP " + names},
		"s3://kept?endpoint=store.minio.svc&region=eu-central-1&use_path_style": {"writer", "*:443/TCP " + names},
	} {
		benchmark := newUploaded(v1alpha1.BenchmarkUpload{URL: url, SecretName: test.secret})
		policy := policyOf(t, benchmark, resources.NewUploader(benchmark, resources.RecorderInputs{Image: "operator:test"}))
		if got := egressOf(policy); got != test.want {
			t.Errorf("%s: it reaches %s, want %s", url, got, test.want)
		}
		if len(policy.Spec.Ingress) > 0 || !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
			t.Errorf("%s: it lets in %+v", url, policy.Spec.Ingress)
		}
		without := newBenchmark()
		inputs := resources.RecorderInputs{Image: "operator:test"}
		for _, pods := range [][2]*corev1.Pod{
			{resources.NewRecorder(benchmark, 1, inputs), resources.NewRecorder(without, 1, inputs)},
			{resources.NewJudge(benchmark, inputs), resources.NewJudge(without, inputs)},
		} {
			if got, want := egressOf(policyOf(t, benchmark, pods[0])), egressOf(policyOf(t, without, pods[1])); got != want {
				t.Errorf("%s: %s reaches %s, want %s", url, pods[0].Name, got, want)
			}
		}
	}
}

// egressOf is what a policy opens.
func egressOf(policy *networkingv1.NetworkPolicy) string {
	var opened []string
	for _, rule := range policy.Spec.Egress {
		to := []string{"*"}
		if len(rule.To) > 0 {
			to = nil
		}
		for _, peer := range rule.To {
			if peer.IPBlock != nil {
				to = append(to, peer.IPBlock.CIDR)
			} else {
				to = append(to, metav1.FormatLabelSelector(peer.PodSelector))
			}
		}
		for _, peer := range to {
			for _, port := range rule.Ports {
				opened = append(opened, peer+":"+port.Port.String()+"/"+string(*port.Protocol))
			}
		}
	}
	return strings.Join(opened, " ")
}
