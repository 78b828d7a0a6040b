// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	networkPolicy = "op-shardyard-network-pods"
	tuningPolicy  = "op-shardyard-node-tuning-pods"
)

// In namespaces whose level is privileged, pods may do what networks and agents need,
// and nothing else of what the level allows.
func TestPodSecurityIsNarrowed(t *testing.T) {
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart, "--namespace", "shardyard-system", "--create-namespace")
	for name, labels := range map[string]map[string]string{
		"narrow":     {api.EnforceLevelLabel: string(api.LevelPrivileged), resources.LabelPodSecurity: resources.PodSecurityNetworks},
		"wide":       {api.EnforceLevelLabel: string(api.LevelPrivileged)},
		"restricted": {api.EnforceLevelLabel: string(api.LevelRestricted)},
	} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		if err := cluster.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	tuned := &v1alpha1.NodeTuning{ObjectMeta: metav1.ObjectMeta{Name: "tuning"}}
	agent := podOf(&resources.NewTuningDaemonSet(tuned, "op-shardyard-node-tuning", "operator", "{}").Spec.Template)
	restorer := podOf(&resources.NewRestoringDaemonSet(tuned, "op-shardyard-node-tuning", "operator", []string{"a"}).Spec.Template)
	fast, plain := validatorPod(t, v1alpha1.TCPProfileHighThroughput), validatorPod(t, v1alpha1.TCPProfileNodeDefault)

	// Policies are taken up a moment after they are made.
	for policy, refused := range map[string]*corev1.Pod{
		networkPolicy: in("narrow", with(fast, privileged)), tuningPolicy: in("op-shardyard-node-tuning", with(agent, privileged)),
	} {
		eventually(t, func(ctx context.Context) error {
			if err := cluster.try(ctx, refused); err == nil || !strings.Contains(err.Error(), policy) {
				return fmt.Errorf("%s is not in force: %w", policy, errors.Join(err))
			}
			return nil
		})
	}

	// This is why there are namespaces of that level at all.
	if err := cluster.try(t.Context(), in("restricted", fast)); err == nil || !strings.Contains(err.Error(), "forbidden sysctls") {
		t.Errorf("the level restricted says %v of a validator, want that it forbids its sysctls", err)
	}
	for name, pod := range map[string]*corev1.Pod{
		"a validator":                      in("narrow", fast),
		"a validator without sysctls":      in("narrow", plain),
		"a sysctl of the level restricted": in("narrow", with(plain, sysctl("net.ipv4.tcp_syncookies"))),
		"an agent":                         in("op-shardyard-node-tuning", agent),
		"an agent that puts back":          in("op-shardyard-node-tuning", restorer),
		"a privileged pod elsewhere":       in("wide", with(fast, privileged)),
	} {
		if err := cluster.try(t.Context(), pod); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}

	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		says   string
	}{
		"another sysctl":       {sysctl("net.ipv4.ip_forward"), "and not net.ipv4.ip_forward"},
		"a privileged one":     {privileged, "privileged"},
		"an initial container": {initially(func(c *corev1.Container) { c.SecurityContext.Privileged = ptr.To(true) }), "privileged"},
		"a folder of the machine": {func(pod *corev1.Pod) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
				Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}},
			})
		}, "hostPath is none of them"},
		"its network": {func(pod *corev1.Pod) {
			pod.Spec.HostNetwork, pod.Spec.SecurityContext.Sysctls = true, nil
		}, "on the network of the machine"},
		"its processes": {func(pod *corev1.Pod) {
			// Nobody has both.
			pod.Spec.HostPID, pod.Spec.ShareProcessNamespace = true, nil
		}, "processes of the machine"},
		"its memory": {func(pod *corev1.Pod) { pod.Spec.HostIPC = true }, "processes of the machine"},
		"its port":   {first(func(c *corev1.Container) { c.Ports[0].HostPort = c.Ports[0].ContainerPort }), "hostPort"},
		"a capability": {first(func(c *corev1.Container) {
			c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN"}
		}), "capability"},
		"all capabilities": {first(func(c *corev1.Container) { c.SecurityContext.Capabilities = nil }), "drop ALL"},
		"an escalation": {first(func(c *corev1.Container) {
			c.SecurityContext.AllowPrivilegeEscalation = nil
		}), "allowPrivilegeEscalation"},
		"root":              {func(pod *corev1.Pod) { pod.Spec.SecurityContext.RunAsUser = ptr.To[int64](0) }, "user 0"},
		"perhaps root":      {func(pod *corev1.Pod) { pod.Spec.SecurityContext.RunAsNonRoot = nil }, "runAsNonRoot"},
		"no seccomp":        {func(pod *corev1.Pod) { pod.Spec.SecurityContext.SeccompProfile = nil }, "seccompProfile"},
		"no AppArmor":       {first(unconfined), "appArmorProfile"},
		"a probe elsewhere": {first(func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Host = "192.0.2.1" }), "name no host"},
		"a hook elsewhere": {first(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
				HTTPGet: &corev1.HTTPGetAction{Host: "192.0.2.1", Port: intstr.FromInt32(80)},
			}}
		}), "name no host"},
		"a SELinux type": {first(func(c *corev1.Container) {
			c.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"}
		}), "SELinux"},
		"a SELinux user": {first(func(c *corev1.Container) {
			c.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{User: "system_u"}
		}), "SELinux"},
		"a SELinux role": {func(pod *corev1.Pod) {
			pod.Spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Role: "system_r"}
		}, "SELinux"},
		"a host process": {func(pod *corev1.Pod) {
			// The API takes it on the machine's network alone, and there no sysctls.
			pod.Spec.HostNetwork, pod.Spec.SecurityContext.Sysctls = true, nil
			hostProcess(&pod.Spec.Containers[0])
		}, "host processes"},
		"unmasked proc": {func(pod *corev1.Pod) {
			pod.Spec.HostUsers = ptr.To(false)
			pod.Spec.Containers[0].SecurityContext.ProcMount = ptr.To(corev1.UnmaskedProcMount)
		}, "procMount"},
		"nothing said": {func(pod *corev1.Pod) {
			pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext = nil, nil
		}, "allowPrivilegeEscalation"},
	} {
		t.Run("a validator with "+name, func(t *testing.T) {
			cluster.checkRefused(t, in("narrow", with(fast, test.change)), networkPolicy, test.says)
		})
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		says   string
	}{
		"a sysctl":         {sysctl("kernel.shm_rmid_forced"), "no sysctls"},
		"a privileged one": {privileged, "privileged"},
		"another folder":   {func(pod *corev1.Pod) { pod.Spec.Volumes[0].HostPath.Path = "/proc/sys" }, "/proc/sys/net"},
		"a volume": {func(pod *corev1.Pod) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "secret", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: "a"},
			}})
		}, "/proc/sys/net"},
		"another port": {first(func(c *corev1.Container) { c.Ports[0].ContainerPort, c.Ports[0].HostPort = 80, 80 }), "hostPort"},
		"another capability": {first(func(c *corev1.Container) {
			c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN", "SYS_ADMIN"}
		}), "NET_ADMIN"},
		"a host process": {first(hostProcess), "host processes"},
		"a token":        {func(pod *corev1.Pod) { pod.Spec.AutomountServiceAccountToken = nil }, "token"},
	} {
		t.Run("an agent with "+name, func(t *testing.T) {
			cluster.checkRefused(t, in("op-shardyard-node-tuning", with(agent, test.change)), tuningPolicy, test.says)
		})
	}
	t.Run("a container that is added", func(t *testing.T) { cluster.checkAddedContainer(t, in("narrow", plain)) })
}

// checkAddedContainer checks that who debugs a pod has no more rights in it.
func (c cluster) checkAddedContainer(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	context := pod.Spec.Containers[0].SecurityContext.DeepCopy()
	add := func(name string) error {
		changed := pod.DeepCopy()
		changed.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: name, Image: "shell", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			ImagePullPolicy: corev1.PullAlways, SecurityContext: context,
		}}}
		return c.SubResource("ephemeralcontainers").Update(t.Context(), changed)
	}
	context.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"}
	if err := add("more"); err == nil || !strings.Contains(err.Error(), networkPolicy) {
		t.Errorf("one with a capability gets %v, want a refusal by %s", err, networkPolicy)
	}
	context.Capabilities.Add = nil
	if err := add("as-much"); err != nil {
		t.Errorf("one without is refused: %v", err)
	}
}

// try says what the cluster would say of a pod.
func (c cluster) try(ctx context.Context, pod *corev1.Pod) error {
	return c.Create(ctx, pod.DeepCopy(), client.DryRunAll)
}

// checkRefused checks that a policy refuses a pod, and says why.
func (c cluster) checkRefused(t *testing.T, pod *corev1.Pod, policy, says string) {
	t.Helper()
	err := c.try(t.Context(), pod)
	if err == nil {
		t.Fatal("it is taken")
	}
	for _, want := range []string{"ValidatingAdmissionPolicy '" + policy + "'", says} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %q, want one that says %q", err, want)
		}
	}
}

// validatorPod is the pod of a validator of a network with a TCP profile.
func validatorPod(t *testing.T, profile v1alpha1.TCPProfile) *corev1.Pod {
	t.Helper()
	network, err := manifest.Read(samples + "/quickstart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.TCP.Profile = profile
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, validator := range plan.Nodes {
		keys[validator.Name] = make(ed25519.PublicKey, ed25519.PublicKeySize)
	}
	objects, err := resources.Build(network, plan, resources.Inputs{
		PublicKeys: keys, DefaultNodeImage: "shardnode", ClusterDomains: map[string]string{"": "cluster.local"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			return podOf(&set.Spec.Template)
		}
	}
	t.Fatal("the network has no validators")
	return nil
}

// podOf is a pod of a template.
func podOf(template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: *template.Spec.DeepCopy()}
	pod.Name = "pod"
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		pod.Spec.Volumes = append(pod.Spec.Volumes, claimed(&pod.Spec, mount.Name)...)
	}
	return pod
}

// claimed is the volume of a claim that a StatefulSet would make; none for a volume
// that the pod has.
func claimed(pod *corev1.PodSpec, name string) []corev1.Volume {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return nil
		}
	}
	return []corev1.Volume{{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}}
}

func in(namespace string, pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Namespace = namespace
	return pod
}

func with(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	pod = pod.DeepCopy()
	change(pod)
	return pod
}

// first changes the container of a pod.
func first(change func(*corev1.Container)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { change(&pod.Spec.Containers[0]) }
}

// initially adds a container that runs before, and is like the pod's but for a change.
func initially(change func(*corev1.Container)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		container := corev1.Container{
			Name: "before", Image: "shell", SecurityContext: pod.Spec.Containers[0].SecurityContext.DeepCopy(),
		}
		container.SecurityContext.AllowPrivilegeEscalation = nil
		change(&container)
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
	}
}

func unconfined(container *corev1.Container) {
	container.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
}

func hostProcess(container *corev1.Container) {
	container.SecurityContext.WindowsOptions = &corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}
}

// privileged is all rights that there are; the API takes it only with escalation.
func privileged(pod *corev1.Pod) {
	pod.Spec.Containers[0].SecurityContext.Privileged = ptr.To(true)
	pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
}

func sysctl(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: name, Value: "1"}}
	}
}
