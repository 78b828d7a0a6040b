// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// tinyClass is the class of a volume that is smaller than it says.
	tinyClass = "tiny"
	// toolboxImage is a shell with the usual file commands.
	toolboxImage = "shardyard/toolbox:dev"
)

var (
	oneGibibyte = resource.MustParse("1Gi")
	// tinySize has room for the beginning of a chain, beside what fills most of it.
	tinySize = resource.MustParse("8Mi")
)

// testGrowth asks for larger disks than the cluster's driver can make of those that there
// are. They stay as they are, and the network goes on.
func (n *network) testGrowth(t *testing.T) {
	n.patch(t, `{"volume": {"size": "2Gi"}}`)
	found := n.waitFor(t, v1alpha1.ConditionVolumesSized, metav1.ConditionFalse, v1alpha1.ReasonExpansionNotAllowed)
	none := fmt.Sprintf("0 of %d volumes have 2Gi", len(n.plan(t).Nodes))
	for _, words := range []string{none, "does not let these claims grow: data-quickstart-s0-p0-0, "} {
		if !strings.Contains(found.Message, words) {
			t.Errorf("the message is %q, want one that says %q", found.Message, words)
		}
	}
	t.Log(found.Message)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
}

// testStorageClass makes a network whose disks have a stated performance. It has
// a class of its own, which goes with it.
func (c *cluster) testStorageClass(t *testing.T) {
	c.newNamespace(t, troubleNamespace, "privileged")
	spec := newSpec()
	spec.Volume = &v1alpha1.VolumeSpec{Size: oneGibibyte, IOPS: 3000, ThroughputMebibytesPerSecond: 140}
	n := c.create(t, troubleNamespace, "fast", &spec)
	n.waitFor(t, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	class := &storagev1.StorageClass{}
	key := client.ObjectKey{Name: resources.StorageClassName(n.mustRead(t))}
	if err := c.Get(t.Context(), key, class); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"type":                             "hyperdisk-balanced",
		"provisioned-iops-on-create":       "3000",
		"provisioned-throughput-on-create": "140Mi",
	}
	if class.Provisioner != "pd.csi.storage.gke.io" || !maps.Equal(class.Parameters, want) {
		t.Errorf("the class is of %s with %v, want pd.csi.storage.gke.io with %v", class.Provisioner, class.Parameters, want)
	}
	n.remove(t)
	n.waitForEnd(t)
	if err := c.Get(t.Context(), key, class); !apierrors.IsNotFound(err) {
		t.Errorf("the class outlives its network (%v)", err)
	}
}

// makeTinyVolume makes the volume of a network's validator: the memory of a pod
// that holds it, so that it is full for real, and soon. The result is that pod: it
// has filled most of the volume, and makeRoom takes that away again.
func (c *cluster) makeTinyVolume(t *testing.T, network string) *corev1.Pod {
	t.Helper()
	holder := c.runHolder(t)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: tinyClass},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              tinyClass,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: oneGibibyte},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef: &corev1.ObjectReference{
				Namespace: troubleNamespace,
				Name:      "data-" + resources.PodName(network+"-s0-p0"),
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{
				Path: path.Join("/var/lib/kubelet/pods", string(holder.UID), "volumes/kubernetes.io~empty-dir", tinyClass),
			}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{holder.Spec.NodeName},
				}}}},
			}},
		},
	}
	if err := c.Create(t.Context(), volume); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, object := range []client.Object{volume, holder} {
			if err := c.Delete(context.Background(), object, client.GracePeriodSeconds(0)); err != nil {
				t.Error(err)
			}
		}
	})
	return holder
}

// ballast is what the holder of the tiny volume puts there: 6 MiB, which a chain
// without load takes minutes to fill.
const (
	ballast     = "/data/ballast"
	fillBallast = "x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do x=$x$x; done; printf %s%s%s $x $x $x >" + ballast
)

// makeRoom takes away what the holder put onto the tiny volume.
func makeRoom(t *testing.T, holder *corev1.Pod) {
	t.Helper()
	if err := os.Remove(filepath.Join("/proc", strconv.Itoa(processOf(t, holder, "sh")), "root", ballast)); err != nil {
		t.Fatal(err)
	}
}

// runHolder runs a pod with a volume in memory.
func (c *cluster) runHolder(t *testing.T) *corev1.Pod {
	t.Helper()
	holder := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: troubleNamespace, Name: "holder"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:         "holder",
				Image:        toolboxImage,
				Command:      []string{"/bin/sh", "-c", fillBallast + "; sleep infinity"},
				VolumeMounts: []corev1.VolumeMount{{Name: tinyClass, MountPath: "/data"}},
			}},
			Volumes: []corev1.Volume{{
				Name: tinyClass,
				VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
					Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(tinySize),
				}},
			}},
		},
	}
	if err := c.Create(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the holder of the tiny volume", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(holder), holder); err != nil {
			return err
		}
		if !ready(holder) {
			return fmt.Errorf("it is %s", holder.Status.Phase)
		}
		return nil
	})
	return holder
}
