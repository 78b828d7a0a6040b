// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/deaths"
)

// What a pod says came of a fault is what is reported, and the operator is another one
// at each step.
func TestAFaultOfLinks(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.until("the end", c.ended)
	c.reconcile()
	status := &c.fault.Status
	if status.Phase != v1alpha1.FaultMeasured || ready(c.fault).Status != metav1.ConditionTrue ||
		ready(c.fault).Message != "the fault is over, and was measured: Effective is True (Felt), Recovered is True (AsBefore)" {
		t.Errorf("the fault is %s: %+v", status.Phase, status.Conditions)
	}
	if len(status.Validators) != 1 || status.Validators[0].Impaired != 148 || status.ValidatorsTotal != 1 ||
		*status.RecoveryMilliseconds != 1200 || len(status.Windows) != 1 || status.StartTime == nil || len(status.Felt) != 1 {
		t.Errorf("the status is %+v", status)
	}
	if !slices.Equal(c.watchers, []string{status.PodUID}) || len(c.fault.Finalizers) > 0 {
		t.Errorf("the pods %q measured it, the status names %s, and it is held by %q", c.watchers, status.PodUID, c.fault.Finalizers)
	}
	c.checkOwned()
	before := c.fault.ResourceVersion
	c.reconcile()
	if c.fault.ResourceVersion != before {
		t.Error("a fault that has ended was written")
	}
}

// checkOwned checks that the cluster deletes what a fault of links made with it.
func (c *cluster) checkOwned() {
	c.t.Helper()
	for name, object := range map[string]client.Object{
		"fault-fault": &corev1.ConfigMap{}, "fault-fault-admin": &networkingv1.NetworkPolicy{},
	} {
		c.must(c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.network.Namespace, Name: name}, object))
		if !metav1.IsControlledBy(object, c.fault) {
			c.t.Errorf("%s is not the fault's: %+v", name, object.GetOwnerReferences())
		}
	}
}

// A pod measures nothing before the status names it.
func TestThePodBeginsOnceItIsNoted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.until("the pod", func() bool { return c.watcher() != nil })
	if !resources.Gated(c.watcher()) || c.fault.Status.PodUID != "" || len(c.fault.Finalizers) == 0 {
		t.Fatalf("the pod is free, while the status is %+v", c.fault.Status)
	}
	for resources.Gated(c.watcher()) {
		if noted := c.fault.Status.PodUID; noted != "" && noted != string(c.watcher().UID) {
			t.Fatalf("the status names %s", noted)
		}
		c.reconcile()
	}
	if c.fault.Status.Phase != v1alpha1.FaultRunning || c.fault.Status.PodUID != string(c.watcher().UID) {
		t.Errorf("the pod begins, while the status is %+v", c.fault.Status)
	}
}

// A pod that waited behind its gate, for its network or an operator, has all of its time to
// start from when it is let through.
func TestThePodWaitsBehindItsGate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kill)
	// The API server has a clock of its own.
	c.clock = time.Now()
	c.until("the pod", func() bool { return c.watcher() != nil })
	c.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded, "a node is gone")
	c.checkWaits(v1alpha1.ReasonNetworkWaits, "network net is not ready")
	c.clock = c.clock.Add(15 * time.Minute)
	c.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, "it runs")
	for resources.Gated(c.watcher()) {
		c.reconcile()
	}
	c.reconcile()
	if c.fault.Status.Phase != v1alpha1.FaultRunning {
		t.Fatalf("the fault is %s: %s", c.fault.Status.Phase, c.fault.Status.Problem)
	}
	c.clock = c.clock.Add(11 * time.Minute)
	c.untilEnded()
	c.checkNotMeasured(v1alpha1.ReasonNotMeasured, "the pod that measures it did not start within 10m0s")
}

// A pod that knows the network as it was is made again before it does anything.
func TestThePodKnowsTheNetwork(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.until("the pod", func() bool { return c.watcher() != nil })
	first := c.watcher().UID
	c.network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
	c.must(c.client.Update(t.Context(), c.network))
	c.checkWaits(v1alpha1.ReasonNetworkWaits, "it is not known yet whether network net is ready")
	c.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, "it runs")
	c.until("the end", c.ended)
	if c.fault.Status.Phase != v1alpha1.FaultMeasured || len(c.watchers) != 1 || c.watchers[0] == string(first) {
		t.Errorf("the fault is %s, by the pods %q, and the first was %s", c.fault.Status.Phase, c.watchers, first)
	}
}

// A network that carries the load of a benchmark has no fault until that has ended.
func TestABenchmarkOfTheNetworkComesFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	benchmark := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: c.fault.Namespace, Name: "measures"}}
	benchmark.Spec.Network.Name = c.network.Name
	benchmark.Spec.DurationSeconds = 5
	benchmark.Spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](100)},
	}
	c.must(c.client.Create(t.Context(), benchmark))
	claim := resources.NewClaim(benchmark, 1, c.network)
	c.must(c.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(claim), client.FieldOwner("test"), client.ForceOwnership))
	c.checkWaits(v1alpha1.ReasonNetworkWaits, "carries the load of the Benchmark measures")
	c.must(c.client.Delete(t.Context(), benchmark))
	c.until("the end", c.ended)
	if c.fault.Status.Phase != v1alpha1.FaultMeasured {
		t.Errorf("the fault is %s: %s", c.fault.Status.Phase, c.fault.Status.Problem)
	}
}

// A validator is killed when the pod that measures asks for it, and once.
func TestAKill(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kill)
	pod := c.running()
	before := c.pod(resources.PodName(victim)).UID
	for range 5 {
		c.reconcile()
	}
	if live := c.pod(resources.PodName(victim)); live == nil || live.UID != before || len(c.fault.Status.Victims) > 0 {
		t.Fatal("a validator is killed before anybody measured")
	}
	c.due(pod)
	c.reconcile()
	noted := []v1alpha1.FaultPod{{Validator: victim, UID: string(before)}}
	if live := c.pod(resources.PodName(victim)); live == nil || !slices.Equal(c.fault.Status.Victims, noted) {
		t.Fatalf("before it is killed, the status is %+v", c.fault.Status.Victims)
	}
	c.reconcile()
	if live := c.pod(resources.PodName(victim)); live != nil {
		t.Fatalf("the validator goes on: %s", live.UID)
	}
	c.runNodes()
	after := c.pod(resources.PodName(victim)).UID
	for range 5 {
		c.reconcile()
	}
	if live := c.pod(resources.PodName(victim)); live == nil || live.UID != after {
		t.Fatal("a validator is killed twice")
	}
	for _, other := range []string{"net-s0-p1", "net-s1-p0", "net-s1-p1"} {
		if c.pod(resources.PodName(other)) == nil {
			t.Errorf("%s is killed too", other)
		}
	}
	c.end(c.watcher(), 0, c.outcome())
	c.until("the end", c.ended)
	if c.fault.Status.Phase != v1alpha1.FaultMeasured {
		t.Errorf("the fault is %s: %s", c.fault.Status.Phase, c.fault.Status.Problem)
	}
}

// An operator is killed before, and after, each of its writes. The fault comes to the
// same end, by one pod that measures and one validator that is killed.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	c := newCluster(t, kill)
	killer := &deaths.Deaths{}
	mortal := killer.Client(t, apiServer, scheme)
	for range 3 * maxSteps {
		if c.ended() {
			break
		}
		c.act()
		killer.Revive()
		_, err := c.reconciler(mortal).Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.fault)})
		if err != nil && !errors.Is(err, deaths.ErrKilled) {
			t.Fatal(err)
		}
		c.read(c.fault)
	}
	if c.fault.Status.Phase != v1alpha1.FaultMeasured || len(c.watchers) != 1 || c.crashes != 1 {
		t.Errorf("the fault is %s, by %d pods and %d crashes; it was told\n%s",
			c.fault.Status.Phase, len(c.watchers), c.crashes, strings.Join(c.told, "\n"))
	}
	if killer.Count() < 10 {
		t.Errorf("the operator was killed %d times only", killer.Count())
	}
}

// What breaks the measurement is said, and the fault is taken back: nodes are told to
// end it.
func TestWhatIsNotMeasuredIsTakenBack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		address string
		given   func(c *cluster, pod *corev1.Pod)
		words   string
	}{
		"the pod fails": {
			"127.91.0.1", func(c *cluster, pod *corev1.Pod) { c.end(pod, 1, "error: 3 blocks") }, "exit code 1: error: 3 blocks",
		},
		"the pod says nothing": {
			"127.91.0.2", func(c *cluster, pod *corev1.Pod) { c.end(pod, 0, "all is well") }, "did not say what came of it",
		},
		"the pod is deleted": {
			"127.91.0.3", func(c *cluster, pod *corev1.Pod) {
				c.must(c.client.Delete(c.t.Context(), pod, client.GracePeriodSeconds(0)))
			}, "was deleted",
		},
		"the network is changed": {
			"127.91.0.4", func(c *cluster, _ *corev1.Pod) {
				c.network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
				c.must(c.client.Update(c.t.Context(), c.network))
			}, "the spec of its network was changed",
		},
		"the network is rolled out": {
			"127.91.0.5", func(c *cluster, _ *corev1.Pod) {
				c.condition(v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating, "words")
			}, "its network is rolled out: Updating: words",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, delay)
			ended := c.serveAdmin(test.address)
			test.given(c, c.running())
			c.untilEnded()
			c.checkNotMeasured(v1alpha1.ReasonNotMeasured, test.words)
			if ended.Load() == 0 {
				t.Error("no node was told to end the fault")
			}
			if !slices.ContainsFunc(c.told, func(words string) bool { return strings.Contains(words, "it is taken back, and not measured") }) {
				t.Errorf("it was told %q", c.told)
			}
		})
	}
}

// A fault is taken back from all nodes, also from those that the genesis document does not
// name, and ends with that.
func TestAFaultIsTakenBackFromAllNodes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	made := c.makeKeys()
	ended := map[string]*atomic.Int64{}
	for name, address := range map[string]string{victim: "127.91.0.8", rpc: "127.91.0.9", archive: "127.91.0.10"} {
		ended[name] = c.serveNode(name, made[name], address)
	}
	c.end(c.running(), 1, "error")
	c.untilEnded()
	c.checkNotMeasured(v1alpha1.ReasonNotMeasured, "exit code 1: error")
	for name, told := range ended {
		if told.Load() == 0 {
			t.Errorf("%s was not told to end the fault", name)
		}
	}
}

// Validators are told that a fault is over also when what names the other nodes is gone.
func TestAFaultIsTakenBackWithoutPeers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	ended := c.serveAdmin("127.91.0.11")
	c.must(c.client.Delete(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.network.Namespace, Name: resources.PeersName("net")},
	}))
	c.end(c.running(), 1, "error")
	c.untilEnded()
	if ended.Load() == 0 {
		t.Error("no node was told to end the fault")
	}
}

// Of a fault that cannot be taken back, nobody says that it is over before the nodes
// have ended it by their own clocks.
func TestAFaultThatNobodyCanTakeBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.end(c.running(), 1, "error")
	c.reconcile()
	// There is no token.
	for range 3 {
		if _, err := c.tryReconcile(c.fault); err == nil || c.fault.Status.Phase != v1alpha1.FaultStopping {
			t.Fatalf("the fault is %s: %v", c.fault.Status.Phase, err)
		}
		if words := ready(c.fault).Message; !strings.Contains(words, "not all nodes could be told yet: end the fault: read how nodes") {
			t.Errorf("it is told %q", words)
		}
	}
	c.clock = c.clock.Add(30*time.Second + 2*time.Minute)
	c.untilEnded()
	c.checkNotMeasured(v1alpha1.ReasonNotMeasured, "what came of it is not known")
}

// A fault that is deleted is taken back before it goes.
func TestADeletedFault(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	ended := c.serveAdmin("127.91.0.6")
	pod := c.running()
	c.must(c.client.Delete(t.Context(), c.fault))
	c.reconcile()
	if c.watcher() != nil && c.watcher().DeletionTimestamp == nil || !c.read(c.fault) || ended.Load() > 0 {
		t.Fatalf("the pod %s goes on, or the fault is gone before it", pod.UID)
	}
	if ready(c.fault).Reason != v1alpha1.ReasonTakingBack {
		t.Errorf("it is told %q", ready(c.fault).Message)
	}
	for range 10 {
		c.act()
		there, err := c.tryReconcile(c.fault)
		c.must(err)
		if !there {
			if ended.Load() == 0 {
				t.Error("no node was told to end the fault")
			}
			return
		}
	}
	t.Error("the fault does not go")
}

// While the pod that measures only has to be gone, as on a machine that does not answer, the
// operator looks no more often than at what waits.
func TestAPodThatDoesNotGo(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *cluster, pod *corev1.Pod) error{
		"of a deleted fault": func(c *cluster, _ *corev1.Pod) error { return c.client.Delete(c.t.Context(), c.fault) },
		"of a stopped fault": func(c *cluster, pod *corev1.Pod) error { return c.client.Delete(c.t.Context(), pod) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, delay)
			pod := c.running()
			pod.Finalizers = []string{"example.com/machine"}
			c.must(c.client.Update(t.Context(), pod))
			c.must(end(c, pod))
			c.reconcile()
			if c.result.RequeueAfter != stepInterval {
				t.Errorf("the operator looks again %s after it did something, want %s", c.result.RequeueAfter, stepInterval)
			}
			for range 3 {
				c.reconcile()
				if c.result.RequeueAfter != pollInterval {
					t.Errorf("the operator looks again after %s, want %s", c.result.RequeueAfter, pollInterval)
				}
			}
		})
	}
}

// What keeps a fault from going is said.
func TestADeletedFaultThatNobodyCanTakeBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.running()
	c.must(c.client.Delete(t.Context(), c.fault))
	c.reconcile()
	c.act()
	there, err := c.tryReconcile(c.fault)
	if err == nil || !there || ready(c.fault).Reason != v1alpha1.ReasonTakingBack ||
		!strings.Contains(ready(c.fault).Message, "not all nodes could be told yet") {
		t.Fatalf("the fault is there: %v (%v), and says %+v", there, err, ready(c.fault))
	}
	// By then the nodes have ended it by their own clocks.
	c.clock = c.fault.DeletionTimestamp.Add(30*time.Second + 2*time.Minute)
	if there, err := c.tryReconcile(c.fault); err != nil || there {
		t.Errorf("the fault does not go: %v", err)
	}
}

// A fault that is over ends no other one when it is deleted.
func TestADeletedFaultThatIsOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	ended := c.serveAdmin("127.91.0.7")
	c.until("the end", c.ended)
	if len(c.fault.Finalizers) == 0 {
		t.Fatal("nothing is left to do")
	}
	c.must(c.client.Delete(t.Context(), c.fault))
	if there, err := c.tryReconcile(c.fault); err != nil || there || ended.Load() > 0 {
		t.Errorf("the fault is there: %v (%v), and nodes were told %d times to end one", there, err, ended.Load())
	}
}

// A fault that nobody took on goes at once.
func TestADeletedFaultThatNeverBegan(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.until("the pod", func() bool { return c.watcher() != nil })
	c.must(c.client.Delete(t.Context(), c.fault))
	for range 5 {
		c.act()
		if there, err := c.tryReconcile(c.fault); err != nil {
			t.Fatal(err)
		} else if !there {
			return
		}
	}
	t.Error("the fault does not go")
}

// Whichever the operator looks at first, the fault that was made first begins.
func TestTheOlderFaultComesFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	second := c.newFault("second", kill)
	_, err := c.tryReconcile(second)
	c.must(err)
	if words := ready(second).Message; words != "nothing was done: the fault "+c.fault.Name+" of network net is older and comes first" {
		t.Errorf("it is told %q", words)
	}
	c.reconcile()
	if ready(c.fault).Reason != v1alpha1.ReasonUnderWay {
		t.Errorf("the older is told %q", ready(c.fault).Message)
	}
}

// A network has one fault at a time.
func TestOneFaultAtATime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.running()
	second := c.newFault("second", kill)
	_, err := c.tryReconcile(second)
	c.must(err)
	if words := ready(second).Message; words != "nothing was done: the fault "+c.fault.Name+" of network net goes on" {
		t.Errorf("it is told %q", words)
	}
	c.until("the end", c.ended)
	_, err = c.tryReconcile(second)
	c.must(err)
	if ready(second).Reason != v1alpha1.ReasonUnderWay {
		t.Errorf("it is told %q", ready(second).Message)
	}
}

// A fault waits for a network of which it could be told what comes of it.
func TestAFaultWaits(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded, "a node is gone.")
	c.checkWaits(v1alpha1.ReasonNetworkWaits, "nothing was done: network net is not ready: Degraded: a node is gone")
	c.settings.Image = ""
	c.checkWaits(v1alpha1.ReasonNotRunnable, "--recorder-image")
	c.settings.Image = "operator:test"
	c.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, "it runs")
	c.until("the end", c.ended)
	if c.fault.Status.Phase != v1alpha1.FaultMeasured {
		t.Errorf("the fault is %s", c.fault.Status.Phase)
	}
}

// What no cluster does is refused for good, and nothing is made.
func TestFaultsThatAreRefused(t *testing.T) {
	t.Parallel()
	for words, edit := range map[string]func(*v1alpha1.FaultSpec){
		"durationSeconds is 31: in a cluster, a validator that does not answer for more than 30 s is": func(spec *v1alpha1.FaultSpec) {
			spec.Action, spec.DurationSeconds = v1alpha1.FaultActionPause, 31
		},
		`byzantine.program is "/node": in a cluster, it is the name of a file`: func(spec *v1alpha1.FaultSpec) {
			spec.Action, spec.Byzantine = v1alpha1.FaultActionByzantine, &v1alpha1.ByzantineFault{Program: "/node"}
		},
		"durationSeconds is 60: in a cluster": func(spec *v1alpha1.FaultSpec) {
			kill(spec)
			spec.Kill.Restart, spec.DurationSeconds = v1alpha1.FaultRestartAfterDuration, 60
		},
		"network net has no validator nobody": func(spec *v1alpha1.FaultSpec) {
			delay(spec)
			spec.Validators.Names = []string{"nobody"}
		},
	} {
		c := newCluster(t, edit)
		c.untilEnded()
		c.checkNotMeasured(v1alpha1.ReasonNotRunnable, words)
		if c.watcher() != nil || c.fault.Status.StartTime != nil {
			t.Error("a pod was made all the same")
		}
	}
}

// An API server that does not answer is no news of a fault, and is asked again.
func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	c.running()
	c.until("the pod begins", func() bool { return c.fault.Status.Phase == v1alpha1.FaultRunning })
	before, told := c.fault.DeepCopy(), len(c.events.Events)
	reconciler := c.reconciler(c.client)
	reconciler.reader = silentAboutNetworks{c.client}
	_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.fault)})
	c.read(c.fault)
	if err == nil || !equality.Semantic.DeepEqual(before.Status, c.fault.Status) || len(c.events.Events) != told {
		t.Errorf("it is told %+v: %v", ready(c.fault), err)
	}
	c.until("the end", c.ended)
	if c.fault.Status.Phase != v1alpha1.FaultMeasured {
		t.Errorf("the fault is %s", c.fault.Status.Phase)
	}
}

// Of a new fault, nothing is said then.
func TestAnAPIServerThatDoesNotAnswerAtFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	reconciler := c.reconciler(c.client)
	reconciler.reader = silentAboutNetworks{c.client}
	_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.fault)})
	c.read(c.fault)
	if want := (v1alpha1.FaultStatus{ObservedGeneration: -1}); err == nil || !equality.Semantic.DeepEqual(want, c.fault.Status) {
		t.Errorf("the status is %+v: %v", c.fault.Status, err)
	}
}

// silentAboutNetworks is an API server that does not answer who reads networks.
type silentAboutNetworks struct{ client.Reader }

func (s silentAboutNetworks) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if _, ok := object.(*v1alpha1.ShardNetwork); ok {
		return apierrors.NewTimeoutError("the request did not end in time", 1)
	}
	return s.Reader.Get(ctx, key, object, options...)
}

// What has the name of its pod and is somebody else's stays.
func TestANameThatIsTaken(t *testing.T) {
	t.Parallel()
	c := newCluster(t, delay)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.network.Namespace, Name: resources.WatcherName("fault")},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other"}}},
	}
	c.must(c.client.Create(t.Context(), pod))
	if _, err := c.tryReconcile(c.fault); err == nil || ready(c.fault).Reason != v1alpha1.ReasonNameTaken {
		t.Errorf("it is told %+v: %v", ready(c.fault), err)
	}
	c.must(c.client.Delete(t.Context(), c.fault))
	if there, err := c.tryReconcile(c.fault); err != nil || there {
		t.Errorf("the fault does not go: %v", err)
	}
	if c.watcher() == nil || c.watcher().DeletionTimestamp != nil {
		t.Error("somebody else's pod was deleted")
	}
}
