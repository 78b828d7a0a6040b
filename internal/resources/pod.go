// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// ContainerName is the container of a node's pod.
	ContainerName = "shardnode"

	// annotationTokenHash changes a pod's template with the token that its node
	// reads at its start.
	annotationTokenHash = "shardyard.dev/admin-token-hash"

	// nodeUser is the user and group that nodes run as.
	nodeUser = 65532

	volumeFiles = "files"

	// startSeconds is long enough to derive ten million accounts.
	startSeconds = 600
	// stopSeconds is how long a node may take to stop cleanly.
	stopSeconds = 30

	// A node that does not answer so often, once in so long, is started again.
	livenessPeriodSeconds = 10
	livenessFailures      = 6
	// MaxSilenceSeconds is how long a node may be silent by a fault: the first failure may
	// come as soon as it begins, and afterwards a node takes some time to start.
	MaxSilenceSeconds = livenessPeriodSeconds*(livenessFailures-1) - 20
)

// podTemplate is the pod of one validator, with what the network wants of it
// besides.
func podTemplate(
	network *v1alpha1.ShardNetwork,
	ports topology.Ports,
	validator topology.Validator,
	config, peers document,
	inputs Inputs,
) corev1.PodTemplateSpec {
	selector := nodeSelector(&network.Spec, validator)
	var machineType []string
	if wanted, ok := selector[LabelMachineType]; ok {
		machineType = append(machineType, wanted)
	}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels: ValidatorLabels(network.Name, validator),
			Annotations: map[string]string{
				annotationTokenHash: hash(inputs.AdminToken),
			},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{container(network, ports, validator, inputs)},
			Volumes:    append([]corev1.Volume{filesVolume(network, validator, config, peers)}, dataVolume(network)...),

			NodeSelector: selector,
			Tolerations:  tolerations(&network.Spec, machineType...),
			Affinity:     affinity(network, validator),

			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true),
				RunAsUser:    ptr.To[int64](nodeUser),
				RunAsGroup:   ptr.To[int64](nodeUser),
				FSGroup:      ptr.To[int64](nodeUser),
				// A large disk's files change hands once, not at every start.
				FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
				SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				Sysctls:             Sysctls(network.Spec.TCP.Profile),
			},
			// The kernel does not stop the first process of a namespace: see MaxSilenceSeconds.
			ShareProcessNamespace:         ptr.To(true),
			AutomountServiceAccountToken:  ptr.To(false),
			EnableServiceLinks:            ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](stopSeconds),
		},
	}
	complete(&pod, network)
	return pod
}

func container(
	network *v1alpha1.ShardNetwork, ports topology.Ports, validator topology.Validator, inputs Inputs,
) corev1.Container {
	amounts, _ := validator.Role.Resources(&network.Spec.Node)
	return corev1.Container{
		Name:  ContainerName,
		Image: NodeImage(network, inputs.DefaultNodeImage),

		ImagePullPolicy: corev1.PullPolicy(network.Spec.Node.ImagePullPolicy),

		Args: []string{"run", "--config", path.Join(configDir, nodeconfig.ConfigFile)},
		Ports: []corev1.ContainerPort{
			{Name: PortP2P, ContainerPort: int32(ports.P2P), Protocol: corev1.ProtocolTCP},
			{Name: PortHTTP, ContainerPort: int32(ports.HTTP), Protocol: corev1.ProtocolTCP},
			{Name: PortAdmin, ContainerPort: int32(ports.Admin), Protocol: corev1.ProtocolTCP},
		},
		Resources: containerResources(amounts),
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeFiles, MountPath: configDir, ReadOnly: true},
			{Name: volumeData, MountPath: volumeDir},
		},
		StartupProbe:    probe("/healthz", 2, startSeconds/2),
		LivenessProbe:   probe("/healthz", livenessPeriodSeconds, livenessFailures),
		ReadinessProbe:  probe("/readyz", 2, 3),
		SecurityContext: restrictedContainer(),
		// The last line of a node's log says why it ended.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// restrictedContainer is all that a container of a network's pods may do.
func restrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// NodeImage is the image of a network's nodes.
func NodeImage(network *v1alpha1.ShardNetwork, defaultImage string) string {
	if network.Spec.Node.Image != "" {
		return network.Spec.Node.Image
	}
	return defaultImage
}

func probe(path string, periodSeconds, failureThreshold int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(PortHTTP)},
		},
		PeriodSeconds:    periodSeconds,
		TimeoutSeconds:   2,
		FailureThreshold: failureThreshold,
	}
}

// filesVolume holds what a node reads at its start, of keys only its own.
func filesVolume(network *v1alpha1.ShardNetwork, validator topology.Validator, config, peers document) corev1.Volume {
	configMap := func(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: name},
			Items:                items,
		}}
	}
	secret := func(name string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: name},
		}}
	}
	return corev1.Volume{
		Name: volumeFiles,
		VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: ptr.To[int32](0o440),
			Sources: []corev1.VolumeProjection{
				configMap(ConfigName(validator.Name), corev1.KeyToPath{Key: config.key, Path: nodeconfig.ConfigFile}),
				configMap(PeersName(network.Name), corev1.KeyToPath{Key: peers.key, Path: nodeconfig.DefaultFiles.Peers}),
				configMap(GenesisName(network.Name)),
				secret(KeyName(validator.Name)),
				secret(AdminTokenName(network.Name)),
			},
		}},
	}
}

func containerResources(resources *v1alpha1.NodeResources) corev1.ResourceRequirements {
	if resources == nil {
		return corev1.ResourceRequirements{}
	}
	return corev1.ResourceRequirements{
		Requests: resourceList(resources.Requests),
		Limits:   resourceList(resources.Limits),
	}
}

func resourceList(amounts *v1alpha1.ResourceAmounts) corev1.ResourceList {
	if amounts == nil {
		return nil
	}
	list := corev1.ResourceList{}
	if amounts.CPU != nil {
		list[corev1.ResourceCPU] = amounts.CPU.DeepCopy()
	}
	if amounts.Memory != nil {
		list[corev1.ResourceMemory] = amounts.Memory.DeepCopy()
	}
	return list
}
