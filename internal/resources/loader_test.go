// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// newUserBenchmark is one whose load users send.
func newUserBenchmark() *v1alpha1.Benchmark {
	benchmark := newBenchmark()
	benchmark.Spec.Load = v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileOpenLoop, OpenLoop: &v1alpha1.OpenLoopLoad{
		EveryMilliseconds: 1000, Steps: []v1alpha1.OpenLoopStep{{Users: 10}},
	}}
	network := &benchmark.Spec.Network.Template.Spec
	network.Node.ImagePullPolicy = v1alpha1.ImagePullPolicy(corev1.PullAlways)
	network.PodTemplate = &v1alpha1.PodTemplate{Spec: &v1alpha1.PodTemplateSpec{
		ImagePullSecrets: []v1alpha1.ImagePullSecret{{Name: "registry"}},
	}}
	return benchmark
}

func newUserRecorder() *corev1.Pod {
	return resources.NewRecorder(newUserBenchmark(), 1, resources.RecorderInputs{Image: "operator:test", NodeImage: "shardnode:test"})
}

// The loader is beside the recorder for as long as that runs, is of the image of the
// nodes, and is asked by the program of the operator.
func TestTheLoaderOfARecorder(t *testing.T) {
	t.Parallel()
	pod := newUserRecorder()
	if len(pod.Spec.InitContainers) != 2 || len(pod.Spec.Containers) != 1 {
		t.Fatalf("the pod is %+v", pod.Spec)
	}
	tools, loader, recorder := &pod.Spec.InitContainers[0], &pod.Spec.InitContainers[1], &pod.Spec.Containers[0]
	if tools.Image != "operator:test" || !reflect.DeepEqual(tools.Args, []string{"copy-program", "--to=/opt/shardyard/operator"}) ||
		tools.RestartPolicy != nil {
		t.Errorf("the program is put there by %+v", tools)
	}
	if loader.Image != "shardnode:test" || loader.ImagePullPolicy != corev1.PullAlways || loader.RestartPolicy == nil ||
		*loader.RestartPolicy != corev1.ContainerRestartPolicyAlways || !slices.Equal(loader.Command, []string{"/opt/shardyard/operator"}) {
		t.Errorf("the loader is %+v", loader)
	}
	want := []string{
		"serve-loader", "--socket=/run/shardyard/loader.sock", "--shardnode=/usr/local/bin/shardnode",
		"--genesis=/etc/shardyard-genesis/genesis.json",
	}
	if !slices.Equal(loader.Args, want) || !slices.Contains(recorder.Args, "--loader=/run/shardyard/loader.sock") {
		t.Errorf("the loader is told %q, and the recorder %q", loader.Args, recorder.Args)
	}
}

// The loader has bounds, and its image comes from where that of the nodes does.
func TestWhatALoaderHas(t *testing.T) {
	t.Parallel()
	pod := newUserRecorder()
	if has := pod.Spec.InitContainers[1].Resources; has.Limits.Memory().IsZero() || has.Requests.Cpu().IsZero() {
		t.Errorf("the loader has %+v", has)
	}
	if !reflect.DeepEqual(pod.Spec.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "registry"}}) {
		t.Errorf("images are pulled with %+v", pod.Spec.ImagePullSecrets)
	}
}

// Both see the socket, and the loader sees besides it the genesis document of its
// network alone: no Secret, and none of what is recorded.
func TestWhatALoaderSees(t *testing.T) {
	t.Parallel()
	pod := newUserRecorder()
	mounts := map[string]bool{}
	for _, mount := range pod.Spec.InitContainers[1].VolumeMounts {
		mounts[mount.MountPath] = mount.ReadOnly
	}
	want := map[string]bool{"/opt/shardyard": true, "/etc/shardyard-genesis": true, "/run/shardyard": false}
	if !reflect.DeepEqual(mounts, want) {
		t.Errorf("the loader sees %v, want %v", mounts, want)
	}
	// The node's runtime makes a folder there, and cannot make it elsewhere.
	if want := []corev1.EnvVar{{Name: "TMPDIR", Value: "/run/shardyard"}}; !reflect.DeepEqual(pod.Spec.InitContainers[1].Env, want) {
		t.Errorf("the loader's environment is %v, want %v", pod.Spec.InitContainers[1].Env, want)
	}
	if !slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(mount corev1.VolumeMount) bool {
		return mount.MountPath == "/run/shardyard" && !mount.ReadOnly
	}) {
		t.Errorf("the recorder sees %+v", pod.Spec.Containers[0].VolumeMounts)
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil || volume.Projected != nil {
			t.Errorf("the pod has %+v", volume)
		}
		if volume.ConfigMap != nil && volume.Name == "genesis" && volume.ConfigMap.Name != "bench-genesis" {
			t.Errorf("the genesis document is of %s", volume.ConfigMap.Name)
		}
		if volume.EmptyDir != nil && volume.EmptyDir.SizeLimit == nil {
			t.Errorf("%s has no bound", volume.Name)
		}
	}
}

// A pod with a loader meets the restricted profile, and no other pod of its benchmark
// has one. Without users there is none.
func TestWhoHasALoader(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pod := newUserRecorder()
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.MajorMinorVersion(1, 36)}
	if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
		t.Errorf("the recorder violates %s", result.ForbiddenDetail())
	}
	for i := range pod.Spec.InitContainers {
		if readOnly := pod.Spec.InitContainers[i].SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
			t.Errorf("%s may write anywhere", pod.Spec.InitContainers[i].Name)
		}
	}
	inputs := resources.RecorderInputs{Image: "operator:test"}
	for _, other := range []*corev1.Pod{
		resources.NewRecorder(newBenchmark(), 1, inputs), resources.NewRecorder(newSteeredBenchmark(), 1, inputs),
		resources.NewJudge(newUserBenchmark(), inputs), resources.NewReader(newUserBenchmark(), inputs.Image),
	} {
		if len(other.Spec.InitContainers) > 0 || strings.Contains(other.Spec.String(), "loader") {
			t.Errorf("%s%s has a loader: %s", other.Name, other.GenerateName, other.Spec.String())
		}
	}
}

// Users reach the HTTP API of nodes, and never the admin API; nobody reaches them, and
// the operator tells their network no load.
func TestThePolicyOfUsers(t *testing.T) {
	t.Parallel()
	objects, err := resources.BenchmarkObjects(newUserBenchmark(), topology.DefaultPorts)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 3 {
		t.Fatalf("the objects are %+v", objects)
	}
	closed := objects[2].(*networkingv1.NetworkPolicy)
	if !admits(t, []networkingv1.NetworkPolicyPeer{{PodSelector: &closed.Spec.PodSelector}}, newUserRecorder().Labels) {
		t.Errorf("the policy is of %+v", closed.Spec.PodSelector)
	}
	if len(closed.Spec.Ingress) > 0 || !slices.Equal(ports(closed.Spec.Egress[0].Ports), []int{topology.DefaultPorts.HTTP}) ||
		!admits(t, closed.Spec.Egress[0].To, resources.NetworkLabels("bench")) ||
		admits(t, closed.Spec.Egress[0].To, resources.NetworkLabels("other")) {
		t.Errorf("users reach %+v, and are reached by %+v", closed.Spec.Egress, closed.Spec.Ingress)
	}
	if resources.Steered(newUserBenchmark()) || !resources.LoadBegunByRecorder(newUserBenchmark()) ||
		resources.LoadBegunByRecorder(newBenchmark()) || !resources.LoadBegunByRecorder(newSteeredBenchmark()) {
		t.Error("who begins the load is wrong")
	}
}

// Images of nodes have the node program where loaders are looked for.
func TestWhereImagesHaveTheNodeProgram(t *testing.T) {
	t.Parallel()
	const path = "/usr/local/bin/shardnode"
	if !slices.Contains(newUserRecorder().Spec.InitContainers[1].Args, "--shardnode="+path) {
		t.Fatalf("loaders are not looked for at %s", path)
	}
	for file, line := range map[string]string{
		"../../Dockerfile":            `ENTRYPOINT ["` + path + `"]`,
		"../../docs/node-contract.md": "`" + path + "`",
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), line) {
			t.Errorf("%s does not say %s", file, line)
		}
	}
}
