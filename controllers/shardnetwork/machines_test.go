// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/standin"
)

// badImage is of nodes that end at once.
const badImage = "shardnode:bad"

// machines do for a network what nothing else here does: they make the pods of
// its StatefulSets and say how these are. Stand-ins answer for the pods.
type machines struct {
	*cluster
	network *v1alpha1.ShardNetwork
	// made are the pods that were made, in this order.
	made []string
	// lacking is what the copy of a validator lacks that starts.
	lacking string
}

func newMachines(c *cluster, network *v1alpha1.ShardNetwork) *machines {
	standIns.join(c.t)
	return &machines{cluster: c, network: network}
}

// work makes the pods that are not there, and waits until they answer.
func (m *machines) work() {
	m.t.Helper()
	for _, object := range m.objects(m.network.Name) {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			m.workOn(set)
		}
	}
	m.workOnProbes()
}

// workOnProbes has images that are asked for their formats answer with those of
// the nodes that run.
func (m *machines) workOnProbes() {
	m.t.Helper()
	pods := &corev1.PodList{}
	if err := m.client.List(m.t.Context(), pods, client.InNamespace(m.namespace),
		client.MatchingLabels(resources.ImageProbeSelector(m.network.Name))); err != nil {
		m.t.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.DeletionTimestamp != nil {
			continue
		}
		m.answer(m.network, pod.Spec.Containers[0].Image, &corev1.ContainerStateTerminated{
			Message: fmt.Sprint(ptr.Deref(m.network.Status.Formats, 0)),
		})
	}
}

func (m *machines) workOn(set *appsv1.StatefulSet) {
	m.t.Helper()
	content, err := json.Marshal(set.Spec.Template)
	if err != nil {
		m.t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	revision := hex.EncodeToString(sum[:4])
	if set.Status.ObservedGeneration != set.Generation {
		set.Status.ObservedGeneration, set.Status.UpdateRevision = set.Generation, revision
		if err := m.client.Status().Update(m.t.Context(), set); err != nil {
			m.t.Fatal(err)
		}
	}
	pod := &corev1.Pod{}
	err = m.client.Get(m.t.Context(), client.ObjectKey{Namespace: m.namespace, Name: resources.PodName(set.Name)}, pod)
	if apierrors.IsNotFound(err) {
		m.run(set, revision)
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// addresses are counted over all tests, so that no two pods have the same.
var addresses atomic.Uint32

// run makes a pod, which takes part at once unless its image is bad.
func (m *machines) run(set *appsv1.StatefulSet, revision string) {
	m.t.Helper()
	template := set.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = m.namespace, resources.PodName(set.Name)
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
	if m.lacking != "" {
		pod.Annotations[standin.AnnotationLacking] = m.lacking
	}
	if m.network.Spec.Volume != nil {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: set.Spec.VolumeClaimTemplates[0].Name})
	}
	if err := m.client.Create(m.t.Context(), pod); err != nil {
		m.t.Fatal(err)
	}
	m.made = append(m.made, set.Name)
	if pod.Spec.Containers[0].Image == badImage {
		m.say(pod, corev1.ConditionFalse, corev1.ContainerStatus{
			RestartCount: 3,
			State:        corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 2, Message: "config.json: features: unknown field `turbo`",
			}},
		})
		return
	}
	count := addresses.Add(1)
	pod.Status.PodIP = fmt.Sprintf("127.1.%d.%d", count/250, 1+count%250)
	m.say(pod, corev1.ConditionTrue, corev1.ContainerStatus{
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Started: ptr.To(true),
	})
	m.await(pod)
}

// say writes what a machine says of a pod.
func (m *machines) say(pod *corev1.Pod, ready corev1.ConditionStatus, container corev1.ContainerStatus) {
	m.t.Helper()
	container.Name, container.Image = pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Image
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(m.clock),
	}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	if err := m.client.Status().Update(m.t.Context(), pod); err != nil {
		m.t.Fatal(err)
	}
}

// await waits until a pod's node answers.
func (m *machines) await(pod *corev1.Pod) {
	m.t.Helper()
	plan, err := topology.New(m.network)
	if err != nil {
		m.t.Fatal(err)
	}
	api := chain.NewClient(net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(plan.Ports.HTTP)), chain.Admin{})
	defer api.Close()
	ctx, cancel := context.WithTimeout(m.t.Context(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := api.Status(ctx)
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			m.t.Fatalf("%s does not answer: %v", pod.Name, err)
		}
	}
}

// tell has the nodes of all pods say what their copies lack.
func (m *machines) tell(lacking string) {
	m.t.Helper()
	m.lacking = lacking
	pods := m.pods()
	for i := range pods {
		pod := &pods[i]
		before := pod.DeepCopy()
		if pod.Annotations[standin.AnnotationLacking] = lacking; lacking == "" {
			delete(pod.Annotations, standin.AnnotationLacking)
		}
		if err := m.client.Patch(m.t.Context(), pod, client.MergeFrom(before)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *machines) pods() []corev1.Pod {
	m.t.Helper()
	pods := &corev1.PodList{}
	if err := m.client.List(m.t.Context(), pods, client.InNamespace(m.namespace),
		client.MatchingLabels{resources.LabelNetwork: m.network.Name}); err != nil {
		m.t.Fatal(err)
	}
	return pods.Items
}

// images are those that the pods run, sorted.
func (m *machines) images() (images []string) {
	m.t.Helper()
	pods := m.pods()
	for i := range pods {
		images = append(images, pods[i].Spec.Containers[0].Image)
	}
	slices.Sort(images)
	return images
}

// until runs the machines and the operator, in turns, until a condition has a
// status and a reason.
func (m *machines) until(status metav1.ConditionStatus, reason string, between ...func()) {
	m.t.Helper()
	const rounds = 100
	for range rounds {
		m.work()
		m.mustReconcile(m.network)
		for _, do := range between {
			do()
		}
		for i := range m.network.Status.Conditions {
			found := &m.network.Status.Conditions[i]
			if found.Type == v1alpha1.ConditionUpdated && found.Status == status && found.Reason == reason &&
				found.ObservedGeneration == m.network.Generation {
				return
			}
		}
	}
	m.t.Fatalf("Updated is not %s, %s after %d rounds: %+v", status, reason, rounds, m.network.Status)
}

// standIns answer for the pods of all tests, as long as one of them goes on: the
// API server does not stop while somebody watches.
var standIns standInServer

type standInServer struct {
	lock  sync.Mutex
	tests int
	stop  context.CancelFunc
	ended chan error
}

func (s *standInServer) join(t *testing.T) {
	t.Helper()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.tests++; s.tests == 1 {
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		s.stop, s.ended = stop, ended
		go func() { ended <- standin.New().Serve(ctx, apiServer) }()
	}
	t.Cleanup(func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.tests--; s.tests > 0 {
			return
		}
		s.stop()
		if err := <-s.ended; err != nil {
			t.Errorf("stand-ins: %v", err)
		}
	})
}
