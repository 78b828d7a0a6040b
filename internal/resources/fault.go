// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"net"
	"path"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// LabelFault is the fault that an object belongs to. Its pod does not have
	// LabelNetwork: nothing that is about a network's nodes is about it.
	LabelFault = "shardyard.dev/fault"
	// NameWatcher is the name, as in LabelName, of the pod that measures a fault.
	NameWatcher = "fault-watcher"
	// GateNoted is the gate behind which the pod of a fault waits until the fault's
	// status names it: until then it has done nothing, and may be made again.
	GateNoted = "shardyard.dev/noted"
	// annotationNetwork, on the pod of a fault, says which very network it knows, and as
	// of which generation.
	annotationNetwork = "shardyard.dev/network"
	// AnnotationReleased is when the pod of a fault was let through its gate, by the clock of
	// the operator.
	AnnotationReleased = "shardyard.dev/released"
	// PathDue is where the pod of a fault says that the operator is to begin it now.
	PathDue = "/due"

	// faultFile is the fault and its network in their ConfigMap.
	faultFile = "fault.json"

	volumeFault = "fault"

	// watcherPort is where the pod of a fault is asked whether the fault is due.
	watcherPort = 8080
	// watcherSpareSeconds is how much longer than its parts the pod of a fault may run.
	watcherSpareSeconds = 600
)

// FaultInputs are what the pod of a fault needs besides it.
type FaultInputs struct {
	// Image is the operator's.
	Image string
	// ClusterDomain is the DNS domain of the cluster.
	ClusterDomain string
	// KeptByNodes says that nodes keep the fault, and are told of it.
	KeptByNodes bool
}

// FaultOrder is what the pod of a fault reads: the fault, and the network as it was
// when the pod was made.
type FaultOrder struct {
	Fault   v1alpha1.Fault        `json:"fault"`
	Network v1alpha1.ShardNetwork `json:"network"`
}

// WatcherName is the pod of a fault, and all that goes with it but for FaultPolicyName.
func WatcherName(fault string) string { return fault + "-fault" }

// FaultPolicyName is the NetworkPolicy by which the pod of a fault reaches the admin
// API of nodes.
func FaultPolicyName(fault string) string { return fault + "-fault-admin" }

// FaultObjects are what the pod of a fault needs to be there.
func FaultObjects(
	wanted *v1alpha1.Fault, network *v1alpha1.ShardNetwork, ports topology.Ports, inputs FaultInputs,
) ([]Object, error) {
	config, err := newFaultConfig(wanted, network)
	if err != nil {
		return nil, err
	}
	objects := []Object{config, newWatcherPolicy(wanted, ports, inputs)}
	if inputs.KeptByNodes {
		objects = append(objects, newFaultPolicy(wanted, ports))
	}
	return objects, nil
}

// NewWatcher is the pod that measures a fault, and begins and ends it where nodes do as
// they are told. It is a bare pod behind a gate, which runs once at most.
func NewWatcher(wanted *v1alpha1.Fault, network *v1alpha1.ShardNetwork, inputs FaultInputs) *corev1.Pod {
	spec := &wanted.Spec
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: ofFault(wanted, WatcherName(wanted.Name)),
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: GateNoted}},
			Containers: []corev1.Container{{
				Name:  NameWatcher,
				Image: inputs.Image,
				Args: []string{
					"measure-fault",
					"--fault=" + path.Join(benchmarkDir, faultFile),
					"--cluster-domain=" + inputs.ClusterDomain,
					"--summary=" + corev1.TerminationMessagePathDefault,
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
					},
					Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
				},
				VolumeMounts:             []corev1.VolumeMount{{Name: volumeFault, MountPath: benchmarkDir, ReadOnly: true}},
				SecurityContext:          restrictedContainer(),
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			}},
			Volumes: []corev1.Volume{{Name: volumeFault, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: WatcherName(wanted.Name)},
			}}}},
			RestartPolicy: corev1.RestartPolicyNever,
			ActiveDeadlineSeconds: ptr.To(int64(spec.BaselineSeconds) + int64(spec.DurationSeconds) + int64(spec.RecoverySeconds) +
				watcherSpareSeconds),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To[int64](nodeUser),
				RunAsGroup:     ptr.To[int64](nodeUser),
				FSGroup:        ptr.To[int64](nodeUser),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
		},
	}
	pod.Annotations = map[string]string{annotationNetwork: versionOf(network)}
	if inputs.KeptByNodes {
		steer(pod, spec.NetworkName)
		knowPeers(pod, spec.NetworkName)
	} else {
		summon(&pod.Spec.Containers[0])
	}
	return pod
}

// summon has the pod of a fault be ready while the operator is to begin the fault: the
// pod has no other way to tell it, and no rights in the cluster.
func summon(container *corev1.Container) {
	container.Args = append(container.Args, "--listen="+net.JoinHostPort("", strconv.Itoa(watcherPort)))
	container.Ports = []corev1.ContainerPort{{Name: "due", ContainerPort: watcherPort, Protocol: corev1.ProtocolTCP}}
	container.ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: PathDue, Port: intstr.FromInt32(watcherPort), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds: 1, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1,
	}
}

// Gated says whether the pod of a fault waits until it is noted.
func Gated(pod *corev1.Pod) bool { return len(pod.Spec.SchedulingGates) > 0 }

// Released is when the pod of a fault was let through its gate, behind which it may have
// waited for any time; when it was made, if nobody noted that.
func Released(pod *corev1.Pod) time.Time {
	released, err := time.Parse(time.RFC3339, pod.Annotations[AnnotationReleased])
	if err != nil {
		return pod.CreationTimestamp.Time
	}
	return released
}

// Knows says whether the pod of a fault knows a network as it is.
func Knows(pod *corev1.Pod, network *v1alpha1.ShardNetwork) bool {
	return pod.Annotations[annotationNetwork] == versionOf(network)
}

func versionOf(network *v1alpha1.ShardNetwork) string {
	return fmt.Sprintf("%s/%d", network.UID, network.Generation)
}

// ofFault is the metadata of an object that the cluster deletes with its fault.
func ofFault(wanted *v1alpha1.Fault, name string) metav1.ObjectMeta {
	labels := faultSelector(wanted.Name)
	labels[LabelInstance], labels[LabelManagedBy] = wanted.Name, ManagedBy
	return metav1.ObjectMeta{
		Namespace: wanted.Namespace,
		Name:      name,
		Labels:    labels,
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(wanted, v1alpha1.GroupVersion.WithKind(v1alpha1.KindFault)),
		},
	}
}

// faultSelector selects the pod of a fault.
func faultSelector(fault string) map[string]string {
	return map[string]string{LabelName: NameWatcher, LabelFault: fault}
}

// newFaultConfig is the fault and its network as the pod reads them.
func newFaultConfig(wanted *v1alpha1.Fault, network *v1alpha1.ShardNetwork) (*corev1.ConfigMap, error) {
	content, err := json.Marshal(&FaultOrder{
		Fault: v1alpha1.Fault{
			ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name, UID: wanted.UID},
			Spec:       wanted.Spec,
		},
		Network: v1alpha1.ShardNetwork{
			ObjectMeta: metav1.ObjectMeta{Namespace: network.Namespace, Name: network.Name, UID: network.UID},
			Spec:       network.Spec,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode fault: %w", err)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: ofFault(wanted, WatcherName(wanted.Name)),
		Data:       map[string]string{faultFile: string(content)},
	}, nil
}

// newWatcherPolicy closes the pod of a fault to everybody but the machine that it is
// on, and lets it reach the nodes of the network and names resolved.
func newWatcherPolicy(wanted *v1alpha1.Fault, ports topology.Ports, inputs FaultInputs) *networkingv1.NetworkPolicy {
	reached := []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.HTTP)}
	if inputs.KeptByNodes {
		reached = append(reached, policyPort(corev1.ProtocolTCP, ports.Admin))
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: ofFault(wanted, WatcherName(wanted.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: faultSelector(wanted.Name)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{
					To: []networkingv1.NetworkPolicyPeer{{
						PodSelector: &metav1.LabelSelector{MatchLabels: networkSelector(wanted.Spec.NetworkName)},
					}},
					Ports: reached,
				},
				nameResolution(),
			},
		},
	}
}

// newFaultPolicy lets the pod of a fault in to the admin API of the nodes. It adds to
// the policy of the network, which lets in the operator alone.
func newFaultPolicy(wanted *v1alpha1.Fault, ports topology.Ports) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: ofFault(wanted, FaultPolicyName(wanted.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: networkSelector(wanted.Spec.NetworkName)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{
					PodSelector: &metav1.LabelSelector{MatchLabels: faultSelector(wanted.Name)},
				}},
				Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.Admin)},
			}},
		},
	}
}
