// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// upgrade replaces the operator by one of another release.
func (c *cluster) upgrade(nodeImage string) {
	c.t.Helper()
	c.restart()
	c.reconciler.settings.DefaultNodeImage = nodeImage
}

// images are those that nodes of a network are made with.
func (c *cluster) images(network *v1alpha1.ShardNetwork) []string {
	c.t.Helper()
	var images []string
	for _, object := range c.objects(network.Name) {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			images = append(images, set.Spec.Template.Spec.Containers[0].Image)
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

func (c *cluster) checkImages(network *v1alpha1.ShardNetwork, want string) {
	c.t.Helper()
	if got := c.images(network); !slices.Equal(got, []string{want}) {
		c.t.Errorf("nodes of %s are made with %q, want %s", network.Name, got, want)
	}
	if got := network.Status.NodeImage; got != want {
		c.t.Errorf("the status of %s has the image %s, want %s", network.Name, got, want)
	}
}

// setImage has the spec name an image.
func (c *cluster) setImage(network *v1alpha1.ShardNetwork, image string) {
	c.t.Helper()
	network.Spec.Node.Image = image
	if err := c.client.Update(c.t.Context(), network); err != nil {
		c.t.Fatal(err)
	}
}

// Another release of the operator, which names another image, changes nothing of
// the networks that are there.
func TestAnotherReleaseKeepsTheImage(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")

	cluster.upgrade("shardnode:next")
	writes := cluster.writes.Load()
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
	if made := cluster.writes.Load() - writes; made > 1 {
		t.Errorf("the other release made %d writes to a network that is as it should be", made)
	}
	check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionTrue, v1alpha1.ReasonImageInUse)
	// Nor does what else changes.
	network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	cluster.setImage(network, "")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")

	// The spec decides, and then no longer does.
	cluster.setImage(network, "shardnode:mine")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:mine")
	cluster.setImage(network, "")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:next")
}

// A network of an operator that kept no record has the image that its status
// names.
func TestAnEarlierReleaseKeptNoRecord(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	network.Status.DefaultNodeImage = ""
	if err := cluster.client.Status().Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.upgrade("shardnode:next")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
}

// Wherever an operator ends while it makes a network, another release goes on
// with the image that the first nodes have.
func TestAnotherReleaseHalfWay(t *testing.T) {
	t.Parallel()
	for _, writes := range []int64{1, 6, 8, 10, 14} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			network := cluster.create()
			cluster.killAfter.Store(writes)
			if err := cluster.reconcile(network); !errors.Is(err, errKilled) {
				t.Fatalf("the operator was not killed: %v", err)
			}
			before := cluster.images(network)
			cluster.upgrade("shardnode:next")
			cluster.mustReconcile(network)
			want := "shardnode:next"
			if len(before) > 0 {
				want = before[0]
			}
			if network.Status.DefaultNodeImage == "shardnode:test" {
				want = "shardnode:test"
			}
			cluster.checkImages(network, want)
		})
	}
}

// probe is the pod that asks an image of a network.
func (c *cluster) probe(network *v1alpha1.ShardNetwork, image string) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.namespace, Name: resources.ImageProbeName(network.Name, image),
	}}
	c.read(pod)
	return pod
}

// answer has an image answer.
func (c *cluster) answer(network *v1alpha1.ShardNetwork, image string, ended *corev1.ContainerStateTerminated) {
	c.t.Helper()
	pod := c.probe(network, image)
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: ended},
	}}
	if err := c.client.Status().Update(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
}

// checkNoProbes checks that no pod is left that asked an image.
func (c *cluster) checkNoProbes(network *v1alpha1.ShardNetwork) {
	c.t.Helper()
	pods := &corev1.PodList{}
	if err := c.client.List(c.t.Context(), pods, client.InNamespace(c.namespace),
		client.MatchingLabels(resources.ImageProbeSelector(network.Name))); err != nil {
		c.t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			c.t.Errorf("the pod %s is left", pods.Items[i].Name)
		}
	}
}

// running is a network whose nodes have said their formats.
func (c *cluster) running() *v1alpha1.ShardNetwork {
	c.t.Helper()
	network := c.create()
	c.mustReconcile(network)
	network.Status.Formats = ptr.To[int32](1)
	if err := c.client.Status().Update(c.t.Context(), network); err != nil {
		c.t.Fatal(err)
	}
	return network
}

// An image of other formats is refused before any node is made with it, whatever
// else changes and whoever asks.
func TestAnImageOfOtherFormatsIsRefused(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.running()
	cluster.setImage(network, "shardnode:two")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
	message := check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionFalse, v1alpha1.ReasonImageUnchecked)
	if want := cluster.probe(network, "shardnode:two").Name; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want one that names the pod %s", message, want)
	}
	// Nobody is in a hurry.
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")

	cluster.answer(network, "shardnode:two", &corev1.ContainerStateTerminated{Message: "2\n"})
	cluster.mustReconcile(network)
	cluster.restart()
	for range 2 {
		cluster.mustReconcile(network)
		cluster.checkImages(network, "shardnode:test")
		check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionFalse, v1alpha1.ReasonFormatsDiffer)
	}
	cluster.checkNoProbes(network)

	// The rest of the spec still counts.
	network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	cluster.setImage(network, "shardnode:two")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	// And back to where it was nobody has to be asked.
	cluster.setImage(network, "shardnode:test")
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
	check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionTrue, v1alpha1.ReasonImageInUse)
	cluster.checkNoProbes(network)
}

// An image of the same formats, or one that does not say, is taken once it was
// asked.
func TestAnImageIsAskedFirst(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]*corev1.ContainerStateTerminated{
		"same formats": {Message: "1\n"},
		"does not say": {ExitCode: 2, Message: "error: unrecognized subcommand 'formats'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			network := cluster.running()
			// The first choice is corrected while it is being asked.
			cluster.setImage(network, "shardnode:typo")
			cluster.mustReconcile(network)
			cluster.setImage(network, "shardnode:one")
			cluster.mustReconcile(network)
			cluster.answer(network, "shardnode:one", ended)
			cluster.mustReconcile(network)
			cluster.mustReconcile(network)
			cluster.checkImages(network, "shardnode:one")
			check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionTrue, v1alpha1.ReasonImageInUse)
			cluster.checkNoProbes(network)
		})
	}
}

// A pod that its machine takes away before the image could answer is made again.
func TestAProbeThatIsTakenAway(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.running()
	cluster.setImage(network, "shardnode:two")
	cluster.mustReconcile(network)
	pod := cluster.probe(network, "shardnode:two")
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	if err := cluster.client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	cluster.mustReconcile(network)
	if again := cluster.probe(network, "shardnode:two"); again.UID == pod.UID {
		t.Error("the pod is still the one that was taken away")
	}
	cluster.checkImages(network, "shardnode:test")
}

// A pod of somebody else that has the name is left alone, and believed nothing.
func TestSomebodysProbe(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.running()
	foreign := resources.NewImageProbe(network, "shardnode:two")
	foreign.OwnerReferences = nil
	if err := cluster.client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	cluster.answer(network, "shardnode:two", &corev1.ContainerStateTerminated{Message: "1"})
	cluster.setImage(network, "shardnode:two")
	cluster.mustReconcile(network)
	cluster.mustReconcile(network)
	cluster.checkImages(network, "shardnode:test")
	message := check(t, network, v1alpha1.ConditionImageCompatible, metav1.ConditionFalse, v1alpha1.ReasonImageUnchecked)
	if !strings.Contains(message, "belongs to somebody else") {
		t.Errorf("the message is %q, want one that says whose the pod is", message)
	}
}
