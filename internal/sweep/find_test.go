// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/sweep"
	"github.com/shardyard/shardyard/internal/topology"
)

var created = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(created)}
}

// claim is that of the first validator of a network.
func claim(namespace, network string) corev1.PersistentVolumeClaim {
	object := meta(namespace, resources.ClaimName(topology.ProducerName(network, 0, 0)))
	object.Labels = resources.NetworkLabels(network)
	return corev1.PersistentVolumeClaim{
		ObjectMeta: object,
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("fast"),
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
}

// pod has the disk of a claim.
func pod(namespace, claim string, phase corev1.PodPhase) corev1.Pod {
	object := meta(namespace, "pod-"+strings.ToLower(string(phase)))
	object.Labels = map[string]string{resources.LabelManagedBy: resources.ManagedBy}
	return corev1.Pod{
		ObjectMeta: object,
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "config"}, {
			Name: "data",
			VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			},
		}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// genesis is the metadata of a network's genesis document.
func genesis(network string) metav1.ObjectMeta {
	object := meta("default", resources.GenesisName(network))
	object.Labels = resources.NetworkLabels(network)
	return object
}

// volume was made for a claim.
func volume(name string, phase corev1.PersistentVolumePhase, namespace, claim string) corev1.PersistentVolume {
	return corev1.PersistentVolume{
		ObjectMeta: meta("", name),
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			StorageClassName: "fast",
			ClaimRef:         &corev1.ObjectReference{Namespace: namespace, Name: claim},
		},
		Status: corev1.PersistentVolumeStatus{Phase: phase},
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const name = "data-net-s0-p0-0"
	cases := map[string]struct {
		change func(*sweep.Cluster)
		want   []string
	}{
		"nothing": {func(*sweep.Cluster) {}, nil},
		"a claim": {func(cluster *sweep.Cluster) {
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi fast Bound"}},
		"of a network that is there": {func(cluster *sweep.Cluster) {
			cluster.Networks = []v1alpha1.ShardNetwork{{ObjectMeta: meta("default", "net")}}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, nil},
		"of a network elsewhere": {func(cluster *sweep.Cluster) {
			cluster.Networks = []v1alpha1.ShardNetwork{{ObjectMeta: meta("other", "net")}, {ObjectMeta: meta("default", "net2")}}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi fast Bound"}},
		"of a member's validator": {func(cluster *sweep.Cluster) {
			cluster.StatefulSets = []appsv1.StatefulSet{{ObjectMeta: meta("default", "net-s0-p0")}}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, nil},
		"of a pod whose validator is made anew": {func(cluster *sweep.Cluster) {
			cluster.Pods = []corev1.Pod{pod("default", name, corev1.PodRunning)}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, nil},
		"of a pod that waits": {func(cluster *sweep.Cluster) {
			cluster.Pods = []corev1.Pod{pod("default", name, corev1.PodPending)}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, nil},
		"of pods that ended, and of others": {func(cluster *sweep.Cluster) {
			cluster.Pods = []corev1.Pod{
				pod("default", name, corev1.PodSucceeded), pod("default", name, corev1.PodFailed),
				pod("other", name, corev1.PodRunning), pod("default", "data-net-s0-p1-0", corev1.PodRunning),
			}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi fast Bound"}},
		"of a restore": {func(cluster *sweep.Cluster) {
			restored, complete := genesis("net"), genesis("net2")
			restored.Annotations = map[string]string{resources.AnnotationRestore: "a-b net-s0-p0"}
			cluster.ConfigMaps = []metav1.PartialObjectMetadata{{ObjectMeta: restored}, {ObjectMeta: complete}}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net"), claim("default", "net2"), claim("other", "net")}
		}, []string{
			"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi fast Bound, restoring",
			"PersistentVolumeClaim default net2 data-net2-s0-p0-0 10Gi fast Bound",
			"PersistentVolumeClaim other net data-net-s0-p0-0 10Gi fast Bound",
		}},
		"of somebody else": {func(cluster *sweep.Cluster) {
			foreign := claim("default", "net")
			foreign.Labels[resources.LabelManagedBy] = "another"
			cluster.Claims = []corev1.PersistentVolumeClaim{foreign}
		}, nil},
		"grown": {func(cluster *sweep.Cluster) {
			grown := claim("default", "net")
			grown.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}
			cluster.Claims = []corev1.PersistentVolumeClaim{grown}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 20Gi fast Bound"}},
		"going": {func(cluster *sweep.Cluster) {
			going := claim("default", "net")
			going.DeletionTimestamp = ptr.To(metav1.NewTime(created))
			going.Spec.StorageClassName = nil
			cluster.Claims = []corev1.PersistentVolumeClaim{going}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi  Terminating"}},
		"a volume with its claim": {func(cluster *sweep.Cluster) {
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeBound, "default", name)}
		}, []string{"PersistentVolumeClaim default net data-net-s0-p0-0 10Gi fast Bound"}},
		"a volume without its claim": {func(cluster *sweep.Cluster) {
			// The network was made again, and its claim has another volume.
			cluster.Networks = []v1alpha1.ShardNetwork{{ObjectMeta: meta("default", "net")}}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("default", "net")}
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeReleased, "default", name)}
		}, []string{"PersistentVolume default net pvc-1 10Gi fast Released"}},
		"volumes of nodes of every role": {func(cluster *sweep.Cluster) {
			for i, node := range []string{
				topology.ProducerName("net", 0, 1), topology.ChunkValidatorName("net", 2),
				topology.RPCNodeName("net", 3), topology.ArchiveName("net", 4),
			} {
				cluster.Volumes = append(cluster.Volumes,
					volume(fmt.Sprintf("pvc-%d", i), corev1.VolumeReleased, "default", resources.ClaimName(node)))
			}
		}, []string{
			"PersistentVolume default net? pvc-0 10Gi fast Released", "PersistentVolume default net? pvc-1 10Gi fast Released",
			"PersistentVolume default net? pvc-2 10Gi fast Released", "PersistentVolume default net? pvc-3 10Gi fast Released",
		}},
		"a volume that could not be deleted": {func(cluster *sweep.Cluster) {
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeFailed, "default", "data-my-net-2-s10-p1-0")}
		}, []string{"PersistentVolume default my-net-2? pvc-1 10Gi fast Failed"}},
		"a volume of a chunk validator": {func(cluster *sweep.Cluster) {
			claim := resources.ClaimName(topology.ChunkValidatorName("my-net-2", 10))
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeReleased, "default", claim)}
		}, []string{"PersistentVolume default my-net-2? pvc-1 10Gi fast Released"}},
		"a volume that waits for its claim": {func(cluster *sweep.Cluster) {
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeAvailable, "default", name)}
		}, nil},
		"volumes of others": {func(cluster *sweep.Cluster) {
			free := volume("pvc-3", corev1.VolumeReleased, "", "")
			free.Spec.ClaimRef = nil
			cluster.Volumes = []corev1.PersistentVolume{
				volume("pvc-1", corev1.VolumeReleased, "default", "data-postgres-0"),
				volume("pvc-2", corev1.VolumeReleased, "default", "data-net-s0-p0-1"),
				free,
				volume("pvc-4", corev1.VolumeReleased, "default", "data-postgres-v15-0"),
			}
		}, []string{"PersistentVolume default postgres? pvc-4 10Gi fast Released"}},
		"volumes of classes of networks": {func(cluster *sweep.Cluster) {
			for i, class := range []string{
				"shardyard.default.net", "shardyard.default.net.rpc", "shardyard.default.net2", "shardyard.other.net", "net",
			} {
				of := volume(fmt.Sprintf("pvc-%d", i), corev1.VolumeReleased, "default", name)
				of.Spec.StorageClassName = class
				cluster.Volumes = append(cluster.Volumes, of)
			}
		}, []string{
			"PersistentVolume default net pvc-0 10Gi shardyard.default.net Released",
			"PersistentVolume default net pvc-1 10Gi shardyard.default.net.rpc Released",
			"PersistentVolume default net? pvc-2 10Gi shardyard.default.net2 Released",
			"PersistentVolume default net? pvc-3 10Gi shardyard.other.net Released",
			"PersistentVolume default net? pvc-4 10Gi net Released",
		}},
		"volumes where something else of their network is": {func(cluster *sweep.Cluster) {
			for _, namespace := range []string{"claim", "network", "set", "document", "foreign", "other"} {
				cluster.Volumes = append(cluster.Volumes, volume("pvc-"+namespace, corev1.VolumeReleased, namespace, "data-net-v0-0"))
			}
			ours := func(namespace, name string) metav1.ObjectMeta {
				object := meta(namespace, name)
				object.Labels = resources.NetworkLabels("net")
				return object
			}
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("claim", "net")}
			cluster.Networks = []v1alpha1.ShardNetwork{{ObjectMeta: meta("network", "net")}, {ObjectMeta: meta("other", "net2")}}
			cluster.StatefulSets = []appsv1.StatefulSet{{ObjectMeta: meta("claim", "net-s0-p0")}, {ObjectMeta: ours("set", "net-s0-p0")}}
			foreign := ours("foreign", "net-genesis")
			foreign.Labels[resources.LabelManagedBy] = "another"
			cluster.ConfigMaps = []metav1.PartialObjectMetadata{{ObjectMeta: ours("document", "net-genesis")}, {ObjectMeta: foreign}}
		}, []string{
			"PersistentVolume claim net pvc-claim 10Gi fast Released",
			"PersistentVolume document net pvc-document 10Gi fast Released",
			"PersistentVolume foreign net? pvc-foreign 10Gi fast Released",
			"PersistentVolume network net pvc-network 10Gi fast Released",
			"PersistentVolume other net? pvc-other 10Gi fast Released",
			"PersistentVolume set net pvc-set 10Gi fast Released",
		}},
		"in order": {func(cluster *sweep.Cluster) {
			cluster.Claims = []corev1.PersistentVolumeClaim{claim("b", "net"), claim("a", "net2"), claim("a", "net")}
			cluster.Volumes = []corev1.PersistentVolume{volume("pvc-1", corev1.VolumeReleased, "a", "data-net-s0-p1-0")}
		}, []string{
			"PersistentVolumeClaim a net data-net-s0-p0-0 10Gi fast Bound",
			"PersistentVolume a net pvc-1 10Gi fast Released",
			"PersistentVolumeClaim a net2 data-net2-s0-p0-0 10Gi fast Bound",
			"PersistentVolumeClaim b net data-net-s0-p0-0 10Gi fast Bound",
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cluster sweep.Cluster
			test.change(&cluster)
			var got []string
			for _, found := range sweep.Find(&cluster) {
				network := found.Network
				if found.ByNameOnly {
					network += "?"
				}
				state := found.State
				if found.Restoring {
					state += ", restoring"
				}
				got = append(got, fmt.Sprintf("%s %s %s %s %s %s %s",
					found.Kind, found.Namespace, network, found.Name, found.Size, found.StorageClass, state))
				if !found.Created.Equal(created) {
					t.Errorf("%s was created at %s, want %s", found.Name, found.Created, created)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("what is left is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
