// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// withLostDisk is a running network of four whose nodes have disks, and whose first
// node waits for a machine.
func withLostDisk(t *testing.T, changes ...func(*v1alpha1.ShardNetwork)) *runningPods {
	t.Helper()
	c := newCluster(t)
	network := c.create(append(changes, func(network *v1alpha1.ShardNetwork) {
		network.Spec.Healing.StuckAfterSeconds = 60
		network.Spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: network.Namespace, Size: resource.MustParse("1Gi")}
	})...)
	c.mustReconcile(network)
	pods := c.runPods(network, nil)
	for i := range pods.plan.Nodes {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: pods.plan.Nodes[i].Name}}
		c.read(set)
		c.makeClaim(set)
	}
	pods.advance(time.Minute)
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
	pods.end(0)
	pods.await(0)
	return pods
}

// await has the pod of a validator be made again, and no machine take it.
func (p *runningPods) await(index int) {
	c := p.holder(index)
	c.t.Helper()
	p.start(index)
	pod := p.pod(index)
	unscheduled := pod.DeepCopy()
	if err := c.client.Delete(c.t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		c.t.Fatal(err)
	}
	unscheduled.ResourceVersion, unscheduled.UID, unscheduled.Spec.NodeName = "", "", ""
	if err := c.client.Create(c.t.Context(), unscheduled); err != nil {
		c.t.Fatal(err)
	}
	unscheduled.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/4 nodes are available: 4 node(s) didn't match PersistentVolume's node affinity.",
	}}}
	if err := c.client.Status().Update(c.t.Context(), unscheduled); err != nil {
		c.t.Fatal(err)
	}
}

// claim is that of a validator as it is now.
func (p *runningPods) claim(index int) *corev1.PersistentVolumeClaim {
	c := p.holder(index)
	c.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.namespace, Name: resources.ClaimName(p.plan.Nodes[index].Name),
	}}
	c.read(claim)
	return claim
}

// setPhase has the claim of the first validator be in a phase.
func (p *runningPods) setPhase(phase corev1.PersistentVolumeClaimPhase) {
	c, claim := p.clusters[""], p.claim(0)
	c.t.Helper()
	claim.Status.Phase = phase
	if err := c.client.Status().Update(c.t.Context(), claim); err != nil {
		c.t.Fatal(err)
	}
}

// makeVolume makes the volume of the claim of a validator, for machines with a label.
func (p *runningPods) makeVolume(index int, label, value string) {
	c, claim := p.holder(index), p.claim(index)
	c.t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               claim.Spec.Resources.Requests,
			AccessModes:            claim.Spec.AccessModes,
			ClaimRef:               &corev1.ObjectReference{Namespace: c.namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disks/0"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: label, Operator: corev1.NodeSelectorOpIn, Values: []string{value},
				}},
			}}}},
		},
	}
	if err := c.client.Create(c.t.Context(), volume); err != nil {
		c.t.Fatal(err)
	}
}

// replaced says whether claim and pod of the first validator are deleted. The cluster
// has claims go once no pod uses them, and here nobody does that.
func (p *runningPods) replaced() bool {
	c := p.clusters[""]
	c.t.Helper()
	pod := &corev1.Pod{}
	err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: resources.PodName(p.plan.Nodes[0].Name)}, pod)
	if client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	claim, gone := p.claim(0).DeletionTimestamp != nil, err != nil || pod.DeletionTimestamp != nil
	if claim != gone {
		c.t.Fatalf("the claim is deleted: %v, and the pod: %v", claim, gone)
	}
	return gone
}

func (p *runningPods) checkReplaced(want bool) {
	p.clusters[""].t.Helper()
	if got := p.replaced(); got != want {
		p.clusters[""].t.Fatalf("claim and pod are deleted: %v, want %v: %+v", got, want, p.network.Status.Conditions)
	}
}

// checkLost looks for words in what is said of a disk that is gone.
func (p *runningPods) checkLost(words string) {
	t := p.clusters[""].t
	t.Helper()
	if message := check(t, p.network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonVolumeLost); !strings.Contains(
		message, words) {
		t.Errorf("the message does not say %q: %s", words, message)
	}
}

// A disk whose volume the cluster does not have is replaced once it has been gone for as
// long as the spec says while the chain goes on, as the operator saw that is there.
func TestLostDiskIsReplaced(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	pods.advance(2 * time.Minute)
	check(t, pods.network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonVolumeUnreachable)
	pods.setPhase(corev1.ClaimLost)
	pods.advance(40 * time.Second)
	pods.checkLost("which the cluster does not have; it gets a new one if that is still so after 1m0s")

	// Another operator has not seen it, and a chain that stands still may need it.
	pods.clusters[""].restart()
	pods.advance(55 * time.Second)
	pods.checkReplaced(false)
	for range 60 {
		pods.clusters[""].mustReconcile(pods.network)
	}
	pods.checkReplaced(false)
	pods.advance(55 * time.Second)
	pods.checkReplaced(false)

	pods.advance(10 * time.Second)
	pods.checkReplaced(true)
	pods.clusters[""].told("Warning VolumeReplaced the disk of quickstart-s0-p0 is gone: its claim data-quickstart-s0-p0-0 names ")
	for i := range pods.plan.Nodes[1:] {
		if claim := pods.claim(i + 1); claim.DeletionTimestamp != nil {
			t.Errorf("%s is deleted as well", claim.Name)
		}
	}
}

// An update that waits for a node without a disk does not have it wait in turn: the node
// gets a new one, and nobody else goes before it is back.
func TestLostDiskIsReplacedInAnUpdateThatWaitsForIt(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	c := pods.clusters[""]
	pods.setPhase(corev1.ClaimLost)
	before := pods.network.DeepCopy()
	logMore(&pods.network.Spec)
	if err := c.client.Patch(t.Context(), pods.network, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	pods.advance(pollInterval)
	pods.takeUp("b", 0, 1, 2, 3)
	pods.advance(pollInterval)
	pods.await(0)
	pods.advance(40 * time.Second)
	if message := check(t, pods.network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonWaiting); !strings.Contains(
		message, "waits until quickstart-s0-p0, which was replaced first, is back") {
		t.Errorf("the update waits for something else: %s", message)
	}
	pods.checkReplaced(false)
	pods.advance(25 * time.Second)
	pods.checkReplaced(true)
	for i := range pods.plan.Nodes[1:] {
		if revision := pods.pod(i + 1).Labels[appsv1.ControllerRevisionHashLabelKey]; revision != "a" {
			t.Errorf("%s was replaced meanwhile, by one of revision %s", pods.plan.Nodes[i+1].Name, revision)
		}
	}
}

// What is known of the others is of before a node goes: no disk is replaced at a look at
// which one does.
func TestLostDiskWaitsWhileANodeGoes(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t, func(network *v1alpha1.ShardNetwork) {
		network.Spec.RPCNodes, network.Spec.Regions[0].Nodes = 1, 5
	})
	pods.setPhase(corev1.ClaimLost)
	pods.advance(2*time.Minute, 1)
	pods.checkLost("it waits for somebody else's copy of shard 0")

	pods.heights[1].Store(pods.heights[2].Load())
	pods.takeUp("b", 4)
	pods.advance(pollInterval)
	pods.checkGoes(4)
	pods.advance(pollInterval)
	pods.checkReplaced(true)
}

// takeUp has the cluster take up StatefulSets as they are, as another revision.
func (p *runningPods) takeUp(revision string, of ...int) {
	for _, i := range of {
		c := p.holder(i)
		c.t.Helper()
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: p.plan.Nodes[i].Name}}
		c.read(set)
		set.Status.ObservedGeneration, set.Status.UpdateRevision = set.Generation, revision
		if err := c.client.Status().Update(c.t.Context(), set); err != nil {
			c.t.Fatal(err)
		}
	}
}

// A claim that is as it should be is left alone, and so is one that gets its volume back.
func TestDiskThatIsThereIsNotReplaced(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	pods.setPhase(corev1.ClaimLost)
	pods.advance(55 * time.Second)
	pods.setPhase(corev1.ClaimBound)
	pods.advance(2 * time.Minute)
	pods.checkReplaced(false)
}

// Where nobody wants that, it is told.
func TestLostDiskIsReported(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t, func(network *v1alpha1.ShardNetwork) { network.Spec.Healing.LostVolumes = v1alpha1.LostVolumesReport })
	pods.setPhase(corev1.ClaimLost)
	pods.advance(3 * time.Minute)
	pods.checkReplaced(false)
	pods.checkLost("spec.healing.lostVolumes is Report, so it is left alone: kubectl delete pvc data-quickstart-s0-p0-0")
}

// Nobody begins on an empty disk whose state nobody else has.
func TestLostDiskWaitsForACopy(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	pods.setPhase(corev1.ClaimLost)
	// The other producer of the shard does not keep up.
	pods.advance(3*time.Minute, 1)
	pods.checkReplaced(false)
	pods.checkLost("it waits for somebody else's copy of shard 0: quickstart-s0-p1 is at height ")
	pods.heights[1].Store(pods.heights[2].Load())
	pods.advance(15 * time.Second)
	pods.checkReplaced(true)
}

// A disk that is part of a machine is gone with it, and not before, nor is one of a zone
// gone with any machine.
func TestDiskOfAMachineThatIsGoneIsReplaced(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		label string
		there bool
		want  bool
	}{
		"the machine is gone":  {corev1.LabelHostname, false, true},
		"the machine is there": {corev1.LabelHostname, true, false},
		"the disk of a zone":   {corev1.LabelTopologyZone, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods := withLostDisk(t)
			c, machine := pods.clusters[""], pods.network.Namespace+"-worker"
			pods.makeVolume(0, test.label, machine)
			if test.there {
				// Its hostname is not its name.
				node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "fd-" + machine, Labels: map[string]string{test.label: machine}}}
				if err := c.client.Create(t.Context(), node); err != nil {
					t.Fatal(err)
				}
			}
			pods.advance(50 * time.Second)
			pods.checkReplaced(false)
			if test.want {
				pods.checkLost("is only on the machine " + machine + ", and the cluster has no such machine")
			}
			pods.advance(20 * time.Second)
			pods.checkReplaced(test.want)
		})
	}
}

// In a member cluster, the operator may do what it takes.
func TestLostDiskInAMemberIsReplaced(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m := c.joinMember()
	network := c.createSpanning(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Healing.StuckAfterSeconds = 60
		network.Spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: network.Namespace, Size: resource.MustParse("1Gi")}
	})
	c.eventually(network, func() error { return m.hasSets(2) })
	c.read(network)
	pods := c.runPods(network, map[string]*cluster{far: m.cluster})
	there := -1
	for i, validator := range pods.plan.Nodes {
		holder := pods.holder(i)
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: holder.namespace, Name: validator.Name}}
		holder.read(set)
		holder.makeClaim(set)
		if validator.Cluster == far {
			there = i
		}
	}
	pods.makeVolume(there, corev1.LabelHostname, network.Namespace+"-worker")
	pods.end(there)
	pods.await(there)
	pods.until(func() bool { return pods.claim(there).DeletionTimestamp != nil })
	c.told("Warning VolumeReplaced the disk of " + pods.plan.Nodes[there].Name + " is gone: its claim ")
}

// hasSets says whether the cluster has so many StatefulSets of its namespace.
func (c *cluster) hasSets(want int) error {
	sets := &appsv1.StatefulSetList{}
	if err := c.client.List(c.t.Context(), sets, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	if len(sets.Items) != want {
		return fmt.Errorf("there are %d StatefulSets, want %d", len(sets.Items), want)
	}
	return nil
}

// until has the chain go on until something holds: what the operator keeps of a member
// is a little older than what there is.
func (p *runningPods) until(holds func() bool) {
	t := p.clusters[""].t
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		p.advance(pollInterval)
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("%v: %+v", err, p.network.Status.Conditions)
	}
}

// An operator that may not delete claims says so.
func TestLostDiskThatMayNotBeReplaced(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	c := pods.clusters[""]
	c.reconciler.client = interceptor.NewClient(c.reconciler.client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if claim, ok := object.(*corev1.PersistentVolumeClaim); ok {
				return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), claim.Name, errors.New("not yours"))
			}
			return next.Delete(ctx, object, options...)
		},
	})
	pods.setPhase(corev1.ClaimLost)
	pods.advance(2 * time.Minute)
	pods.checkReplaced(false)
	pods.checkLost(`it gets no new one, because its claim cannot be deleted: persistentvolumeclaims "data-quickstart-s0-p0-0" is ` +
		"forbidden: not yours. Give the operator the role of its chart")
}

// A pod that a machine took since it was looked at has its disk.
func TestDiskOfAPodThatWasScheduledIsNotReplaced(t *testing.T) {
	t.Parallel()
	pods := withLostDisk(t)
	c, taken := pods.clusters[""], pods.pod(0)
	pods.setPhase(corev1.ClaimLost)
	taken.Spec.NodeName = pods.machine(0)
	c.reconciler.reader = interceptor.NewClient(c.reconciler.reader.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if pod, ok := object.(*corev1.Pod); ok && key.Name == taken.Name {
				taken.DeepCopyInto(pod)
				return nil
			}
			return next.Get(ctx, key, object, options...)
		},
	})
	pods.advance(2 * time.Minute)
	pods.checkReplaced(false)
}
