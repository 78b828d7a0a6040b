// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	// NameTuningAgent is the name, as in LabelName, of the agents that tune
	// machines.
	NameTuningAgent = "node-tuning-agent"
	// LabelNodeTuning is the NodeTuning that an agent works for.
	LabelNodeTuning = "shardyard.dev/node-tuning"

	// portReport is the name of the port that an agent shows its report at.
	portReport = "report"

	// Where an agent's container finds what it needs of the machine. The
	// container's own /proc/sys cannot be written.
	agentSysctls     = "/host/proc/sys/net"
	agentStateFolder = "/run/shardyard"

	volumeSysctls = "sysctls"
	volumeState   = "state"

	settingsArgument   = "--settings="
	environmentMachine = "MACHINE"
	environmentAddress = "ADDRESS"
)

// TuningSelector selects the agents of a NodeTuning.
func TuningSelector(tuning string) map[string]string {
	return map[string]string{LabelName: NameTuningAgent, LabelNodeTuning: tuning}
}

// NewTuningDaemonSet runs an agent on every machine that a NodeTuning selects,
// with settings as package tuning encodes them. Without settings, the agents
// put the old values back and nothing else. It has no owner: it has to outlive
// the deletion of its NodeTuning until they have.
//
// Its pods are the one exception from the restricted Pod Security profile. They
// change what belongs to the machine: its interfaces and routes, hence its
// network namespace, as root with the capability NET_ADMIN; its kernel
// parameters, hence a mount of /proc/sys/net; and they note old values where the
// next agent finds them, hence a folder below the machine's /run. They get no
// other capability, are not privileged, and have no rights in the cluster.
func NewTuningDaemonSet(nodeTuning *v1alpha1.NodeTuning, namespace, image, settings string) *appsv1.DaemonSet {
	labels := TuningSelector(nodeTuning.Name)
	labels[LabelManagedBy] = ManagedBy
	return &appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      nodeTuning.Name,
			Labels:    labels,
		},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: TuningSelector(nodeTuning.Name)},
			// Machines are tuned each by itself, so all may change at once.
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: ptr.To(intstr.FromString("100%"))},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       agentPod(nodeTuning, image, settings),
			},
		},
	}
}

func agentPod(nodeTuning *v1alpha1.NodeTuning, image, settings string) corev1.PodSpec {
	machines := map[string]string{corev1.LabelOSStable: string(corev1.Linux)}
	maps.Copy(machines, nodeTuning.Spec.NodeSelector)
	return corev1.PodSpec{
		Containers:   []corev1.Container{agentContainer(nodeTuning.Name, image, settings)},
		NodeSelector: machines,
		Tolerations:  nodeTuning.Spec.Tolerations,
		HostNetwork:  true,
		// It resolves no names.
		DNSPolicy: corev1.DNSDefault,
		Volumes: []corev1.Volume{
			hostFolder(volumeSysctls, "/proc/sys/net", corev1.HostPathDirectory),
			hostFolder(volumeState, agentStateFolder, corev1.HostPathDirectoryOrCreate),
		},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser:      ptr.To[int64](0),
			RunAsGroup:     ptr.To[int64](0),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](stopSeconds),
	}
}

func agentContainer(name, image, settings string) corev1.Container {
	return corev1.Container{
		Name:  NameTuningAgent,
		Image: image,
		Args: []string{
			"tune-machine",
			"--tuning=" + name,
			"--machine=$(" + environmentMachine + ")",
			"--address=$(" + environmentAddress + ")",
			"--sysctls=" + agentSysctls,
			"--state=" + agentStateFolder,
			settingsArgument + settings,
		},
		Env: []corev1.EnvVar{
			fieldVariable(environmentMachine, "spec.nodeName"),
			fieldVariable(environmentAddress, "status.hostIP"),
		},
		// On the machine's own network, so the scheduler lets no two agents onto
		// one machine.
		Ports: []corev1.ContainerPort{{
			Name: portReport, ContainerPort: tuning.Port, HostPort: tuning.Port, Protocol: corev1.ProtocolTCP,
		}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeSysctls, MountPath: agentSysctls},
			{Name: volumeState, MountPath: agentStateFolder},
		},
		LivenessProbe: agentProbe(tuning.PathHealth, 10, 6),
		// A machine counts as tuned while its agent is ready.
		ReadinessProbe: agentProbe(tuning.PathReady, 2, 1),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities: &corev1.Capabilities{
				Drop: []corev1.Capability{"ALL"},
				Add:  []corev1.Capability{"NET_ADMIN"},
			},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func agentProbe(path string, periodSeconds, failureThreshold int32) *corev1.Probe {
	probe := probe(path, periodSeconds, failureThreshold)
	probe.HTTPGet.Port = intstr.FromString(portReport)
	return probe
}

// AgentHas says whether a pod is an agent that was told these settings.
func AgentHas(pod *corev1.Pod, settings string) bool {
	return len(pod.Spec.Containers) == 1 && slices.Contains(pod.Spec.Containers[0].Args, settingsArgument+settings)
}

func hostFolder(name, path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{
		Name:         name,
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}},
	}
}

func fieldVariable(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}
