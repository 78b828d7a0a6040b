// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

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
	// NameTuningRestorer is that of the agents that only put old values back.
	NameTuningRestorer = "node-tuning-restorer"
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

	// tuningWave is how many agents are replaced at a time. A new agent counts once
	// its machine has what it was told, so settings that machines do not take, and
	// an image that does not run, stop at the first of them.
	tuningWave = "10%"
	// restoringWave is all of them: old values go back everywhere at once.
	restoringWave = "100%"
)

// TuningSelector selects the agents of a NodeTuning.
func TuningSelector(tuning string) map[string]string {
	return map[string]string{LabelName: NameTuningAgent, LabelNodeTuning: tuning}
}

// RestoringName is the name of the DaemonSet that puts the old values of a
// NodeTuning back. No NodeTuning has a dot in its name.
func RestoringName(tuning string) string { return tuning + ".restore" }

// TunedMachines are the labels of the machines that a NodeTuning selects.
func TunedMachines(nodeTuning *v1alpha1.NodeTuning) map[string]string {
	machines := map[string]string{corev1.LabelOSStable: string(corev1.Linux)}
	for label, value := range nodeTuning.Spec.NodeSelector {
		machines[label] = string(value)
	}
	return machines
}

// NewTuningDaemonSet runs an agent on every machine that a NodeTuning selects,
// with settings as package tuning encodes them. It has no owner: what becomes of
// the machines when the NodeTuning goes is for its controller to say.
//
// Its pods are the one exception from the restricted Pod Security profile. They
// change what belongs to the machine: its interfaces and routes, hence its
// network namespace, as root with the capability NET_ADMIN; its kernel
// parameters, hence a mount of /proc/sys/net; and they note old values where the
// next agent finds them, hence a folder below the machine's /run. They get no
// other capability, are not privileged, and have no rights in the cluster.
func NewTuningDaemonSet(nodeTuning *v1alpha1.NodeTuning, namespace, image, settings string) *appsv1.DaemonSet {
	pod := agentPod(nodeTuning.Name, image, settings)
	pod.NodeSelector = TunedMachines(nodeTuning)
	pod.Tolerations = Tolerations(nodeTuning.Spec.Tolerations)
	return agentSet(namespace, nodeTuning.Name, TuningSelector(nodeTuning.Name), tuningWave, pod)
}

// NewRestoringDaemonSet runs an agent without settings on some machines, by the
// names of their Nodes, whatever their labels and taints are now. It puts back
// there what agents of the NodeTuning changed, and nothing else.
func NewRestoringDaemonSet(nodeTuning *v1alpha1.NodeTuning, namespace, image string, machines []string) *appsv1.DaemonSet {
	pod := agentPod(nodeTuning.Name, image, tuning.NoSettings)
	terms := make([]corev1.NodeSelectorTerm, 0, len(machines))
	for _, machine := range machines {
		// A term names one machine at most.
		terms = append(terms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{machine},
		}}})
	}
	pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
	pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	selector := map[string]string{LabelName: NameTuningRestorer, LabelNodeTuning: nodeTuning.Name}
	return agentSet(namespace, RestoringName(nodeTuning.Name), selector, restoringWave, pod)
}

func agentSet(namespace, name string, selector map[string]string, wave string, pod *corev1.PodSpec) *appsv1.DaemonSet {
	labels := maps.Clone(selector)
	labels[LabelManagedBy] = ManagedBy
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: ptr.To(intstr.FromString(wave))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *pod},
		},
	}
}

// agentPod is a pod of an agent that may run anywhere.
func agentPod(name, image, settings string) *corev1.PodSpec {
	return &corev1.PodSpec{
		Containers:  []corev1.Container{agentContainer(name, image, settings)},
		HostNetwork: true,
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
		LivenessProbe:  agentProbe(tuning.PathHealth, 10, 6),
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

func hostFolder(name, path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{
		Name:         name,
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}},
	}
}

func fieldVariable(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}
