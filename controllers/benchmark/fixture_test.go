// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/resources"
)

// maxSteps is far above what any benchmark of these tests takes.
const maxSteps = 200

// cluster is a namespace of the API server, an operator that works in it, and all
// others that act on a benchmark's objects, as far as a test lets them.
type cluster struct {
	t         *testing.T
	client    client.Client
	benchmark *v1alpha1.Benchmark
	settings  Settings
	clock     time.Time
	// said is what the recorder of a run says, by its number; that of the others does
	// not count as broken.
	said map[string]summary.Run
	// verdict is what the judge says.
	verdict summary.Result
	// uploadedTo is where the uploader says that the result is.
	uploadedTo string
	// told are all that a benchmark is said to do, each once.
	told []string
	// networks are the UIDs of the networks that carried a load, and recorders those of
	// the pods that ran.
	networks, recorders []string
	events              *events.FakeRecorder
	// result says when the operator looks again.
	result ctrl.Result
}

func newCluster(t *testing.T, edit func(*v1alpha1.BenchmarkSpec)) *cluster {
	t.Helper()
	direct, err := client.New(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	c := &cluster{
		t: t, client: direct, settings: Settings{Image: "operator:test", ClusterDomain: "cluster.local"},
		said: map[string]summary.Run{}, events: events.NewFakeRecorder(1000),
		clock: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC),
		verdict: summary.Result{
			Outcome: result.Succeeded, Words: []string{"all is well"},
			Figures: []summary.Figure{{Name: v1alpha1.FigureExecutedPerSecond, Value: 99.6}},
		},
	}
	c.benchmark = &v1alpha1.Benchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "bench"},
		Spec: v1alpha1.BenchmarkSpec{
			Network: v1alpha1.BenchmarkNetwork{Template: v1alpha1.BenchmarkNetworkTemplate{Spec: v1alpha1.ShardNetworkSpec{
				Shards: 1, ProducersPerShard: 1,
				Regions: []v1alpha1.Region{{Name: "north", Nodes: 1}},
				Genesis: v1alpha1.GenesisSpec{AccountsPerShard: 100},
			}}},
			Load: v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
				Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](100), DurationSeconds: 1}},
			}},
			DurationSeconds: 5,
		},
	}
	if edit != nil {
		edit(&c.benchmark.Spec)
	}
	c.must(direct.Create(t.Context(), c.benchmark))
	return c
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// tryReconcile runs an operator that has seen nothing once, and reads the benchmark
// again.
func (c *cluster) tryReconcile() error {
	c.t.Helper()
	reconciler := &Reconciler{
		client: c.client, reader: c.client, recorder: c.events, settings: c.settings,
		now: func() time.Time { return c.clock },
	}
	var failed error
	c.result, failed = reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
	c.must(c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	if ready := c.ready(); ready != nil && !slices.Contains(c.told, ready.Message) {
		c.told = append(c.told, ready.Message)
	}
	return failed
}

func (c *cluster) reconcile() {
	c.t.Helper()
	c.must(c.tryReconcile())
}

func (c *cluster) ready() *metav1.Condition {
	return meta.FindStatusCondition(c.benchmark.Status.Conditions, v1alpha1.ConditionReady)
}

func (c *cluster) status() *v1alpha1.BenchmarkStatus { return &c.benchmark.Status }

// get reads an object of the benchmark's namespace; false when there is none.
func (c *cluster) get(object client.Object, name string) bool {
	c.t.Helper()
	err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.benchmark.Namespace, Name: name}, object)
	if apierrors.IsNotFound(err) {
		return false
	}
	c.must(err)
	return true
}

// network is the network of the present run; nil when there is none.
func (c *cluster) network() *v1alpha1.ShardNetwork {
	c.t.Helper()
	network := &v1alpha1.ShardNetwork{}
	if !c.get(network, resources.NetworkOf(c.benchmark)) {
		return nil
	}
	return network
}

// pod is a pod; nil when there is none.
func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{}
	if !c.get(pod, name) {
		return nil
	}
	return pod
}

// condition gives the network a condition.
func (c *cluster) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	c.t.Helper()
	network := c.network()
	meta.SetStatusCondition(&network.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: network.Generation,
	})
	network.Status.NodeImage = cmp.Or(network.Spec.Node.Image, "shardnode:test")
	c.must(c.client.Status().Update(c.t.Context(), network))
}

// makeReady has the network be ready.
func (c *cluster) makeReady() {
	c.t.Helper()
	c.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, "it runs")
}

// runNode has a node of the network run what an image came to, unless it does.
func (c *cluster) runNode(name, imageID string) {
	c.t.Helper()
	if c.pod(name) != nil {
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.benchmark.Namespace, Name: name, Labels: resources.NetworkLabels(c.benchmark.Name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: resources.ContainerName, Image: "shardnode"}}},
	}
	c.must(c.client.Create(c.t.Context(), pod))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: resources.ContainerName, Image: "shardnode", ImageID: imageID}}
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// start has a pod run.
func (c *cluster) start(pod *corev1.Pod) {
	c.t.Helper()
	pod.Status.Phase = corev1.PodRunning
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// end has a pod end with an exit code and last words.
func (c *cluster) end(pod *corev1.Pod, exitCode int32, message string) {
	c.t.Helper()
	pod.Status.Phase = corev1.PodSucceeded
	if exitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: resources.NameRecorder, Image: pod.Spec.Containers[0].Image, ImageID: "test",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Message: message}},
	}}
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// collect does what the garbage collector does with what is deleted in the
// foreground, and the machine with a pod.
func (c *cluster) collect() {
	c.t.Helper()
	if network := c.network(); network != nil && network.DeletionTimestamp != nil && len(network.Finalizers) > 0 {
		network.Finalizers = nil
		c.must(client.IgnoreNotFound(c.client.Update(c.t.Context(), network)))
	}
	pods := &corev1.PodList{}
	c.must(c.client.List(c.t.Context(), pods, client.InNamespace(c.benchmark.Namespace)))
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil {
			c.must(client.IgnoreNotFound(c.client.Delete(c.t.Context(), &pods.Items[i], client.GracePeriodSeconds(0))))
		}
	}
}

// act has all others do what they would do next.
func (c *cluster) act() {
	c.t.Helper()
	c.collect()
	network := c.network()
	if network != nil && network.DeletionTimestamp == nil {
		if !meta.IsStatusConditionTrue(network.Status.Conditions, v1alpha1.ConditionReady) {
			c.makeReady()
		}
		if uid := string(network.UID); c.loaded(network) && !slices.Contains(c.networks, uid) {
			c.networks = append(c.networks, uid)
		}
	}
	pods := &corev1.PodList{}
	c.must(c.client.List(c.t.Context(), pods, client.InNamespace(c.benchmark.Namespace)))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp == nil && pod.Labels[resources.LabelName] == resources.NameUploader {
			c.upload(pod)
		}
		if pod.DeletionTimestamp != nil || pod.Labels[resources.LabelName] != resources.NameRecorder {
			continue
		}
		if pod.Name == resources.JudgeName(c.benchmark.Name) {
			c.judge(pod)
			continue
		}
		c.record(pod, network)
	}
}

// loaded says whether a network carries a load: that of its spec, or what its recorder
// has it carry.
func (c *cluster) loaded(network *v1alpha1.ShardNetwork) bool {
	c.t.Helper()
	recorder := c.pod("bench-recorder-" + network.Labels[resources.LabelRun])
	runs := recorder != nil && recorder.Status.Phase == corev1.PodRunning
	if c.benchmark.Spec.Network.Name != "" {
		return resources.ClaimedFor(network, c.benchmark) && runs
	}
	return network.Spec.Load != nil || resources.LoadedByRecorder(network) && runs
}

// judge has the judge do what it does.
func (c *cluster) judge(pod *corev1.Pod) {
	c.t.Helper()
	if pod.Status.Phase != corev1.PodPending {
		return
	}
	message, err := summary.Encode(c.verdict)
	c.must(err)
	c.end(pod, 0, message)
}

// upload has the uploader do what it does.
func (c *cluster) upload(pod *corev1.Pod) {
	c.t.Helper()
	if pod.Status.Phase != corev1.PodPending {
		return
	}
	message, err := summary.Encode(summary.Upload{URL: c.uploadedTo})
	c.must(err)
	c.end(pod, 0, message)
}

// record has a recorder do what it does: it starts, and ends once its network has
// carried the load.
func (c *cluster) record(pod *corev1.Pod, network *v1alpha1.ShardNetwork) {
	c.t.Helper()
	switch {
	case pod.Status.Phase == corev1.PodPending:
		c.recorders = append(c.recorders, string(pod.UID))
		c.start(pod)
	case pod.Status.Phase == corev1.PodRunning && network != nil && c.loaded(network):
		c.sayRecorded(pod)
	}
}

// sayRecorded has a recorder end with what it says of its run.
func (c *cluster) sayRecorded(pod *corev1.Pod) {
	c.t.Helper()
	number := pod.Labels[resources.LabelRun]
	said, ok := c.said[number]
	if !ok {
		rate, err := strconv.ParseFloat(number, 64)
		c.must(err)
		said = summary.Run{Window: result.Window{BeginMs: 1000, EndMs: 6000}, ExecutedPerSecond: ptr.To(100 * rate)}
	}
	message, err := summary.Encode(said)
	c.must(err)
	c.end(pod, 0, message)
}

// until goes on until something holds.
func (c *cluster) until(what string, holds func() bool) {
	c.t.Helper()
	for range maxSteps {
		if holds() {
			return
		}
		c.act()
		if holds() {
			return
		}
		c.reconcile()
	}
	c.t.Fatalf("%s: waited in vain; it was told\n%s", what, strings.Join(c.told, "\n"))
}

func (c *cluster) ended() bool {
	return c.status().EndTime != nil
}

// untilRun waits until the present run has a phase.
func (c *cluster) untilRun(phase v1alpha1.BenchmarkRunPhase) {
	c.t.Helper()
	c.until("run "+string(phase), func() bool {
		runs := c.status().Runs
		return len(runs) > 0 && runs[len(runs)-1].Phase == phase
	})
}

// underLoad waits until the network of the first run carries its load.
func (c *cluster) underLoad() {
	c.t.Helper()
	for range maxSteps {
		if network := c.network(); network != nil && network.Spec.Load != nil {
			return
		}
		c.act()
		c.reconcile()
	}
	c.t.Fatalf("there is no load; it was told\n%s", strings.Join(c.told, "\n"))
}

// checkEnd checks what a benchmark came to, and that nothing of it is left that
// costs anything.
func (c *cluster) checkEnd(phase v1alpha1.BenchmarkPhase, reason, words string) {
	c.t.Helper()
	c.until("the end", c.ended)
	ready := c.ready()
	if c.status().Phase != phase || ready.Reason != reason || !strings.Contains(ready.Message, words) {
		c.t.Errorf("the benchmark is %s by %s: %s; want %s by %s: %s", c.status().Phase, ready.Reason, ready.Message, phase, reason, words)
	}
	if got, want := ready.Status == metav1.ConditionTrue, phase == v1alpha1.BenchmarkSucceeded; got != want {
		c.t.Errorf("the benchmark is ready: %v, want %v", got, want)
	}
	stalled := meta.IsStatusConditionTrue(c.status().Conditions, v1alpha1.ConditionStalled)
	if want := phase != v1alpha1.BenchmarkSucceeded; stalled != want {
		c.t.Errorf("the benchmark is stalled: %v, want %v", stalled, want)
	}
	c.checkNothingRuns()
}

// checkNothingRuns checks that nothing is left of a benchmark that runs or is paid
// for, but the volume of its result, which goes with it, and a network that it names.
func (c *cluster) checkNothingRuns() {
	c.t.Helper()
	inNamespace := client.InNamespace(c.benchmark.Namespace)
	networks := &v1alpha1.ShardNetworkList{}
	c.must(c.client.List(c.t.Context(), networks, inNamespace))
	for i := range networks.Items {
		if network := &networks.Items[i]; network.Name == c.benchmark.Spec.Network.Name {
			c.checkReleased(network)
			continue
		}
		c.t.Errorf("its network is left: %+v", networks.Items[i].ObjectMeta)
	}
	pods := &corev1.PodList{}
	c.must(c.client.List(c.t.Context(), pods, inNamespace))
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			c.t.Errorf("its pod %s is %s", pod.Name, pod.Status.Phase)
		}
	}
	claims := &corev1.PersistentVolumeClaimList{}
	c.must(c.client.List(c.t.Context(), claims, inNamespace))
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Name != resources.RecordsName(c.benchmark.Name) || !metav1.IsControlledBy(claim, c.benchmark) {
			c.t.Errorf("its volume claim %s is left: %+v", claim.Name, claim.OwnerReferences)
		}
	}
}
