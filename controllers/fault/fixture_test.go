// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"crypto/ed25519"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

const (
	// maxSteps is far above what any fault of these tests takes.
	maxSteps = 100
	victim   = "net-s0-p0"
	rpc      = "net-r0"
	archive  = "net-a0"
)

// cluster is a namespace of the API server with a network and a fault, an operator that
// works in it, and all others that act on these, as far as a test lets them.
type cluster struct {
	t        *testing.T
	client   client.Client
	network  *v1alpha1.ShardNetwork
	fault    *v1alpha1.Fault
	settings Settings
	clock    time.Time
	// told are all that a fault is said to do, each once.
	told []string
	// watchers are the UIDs of the pods that measured, and crashes count the pods of
	// validators that were killed while one of them asked for it.
	watchers []string
	crashes  int
	events   *events.FakeRecorder
	// result says when the operator looks again.
	result ctrl.Result
}

func delay(spec *v1alpha1.FaultSpec) {
	spec.Action, spec.Delay = v1alpha1.FaultActionDelay, &v1alpha1.DelayFault{Milliseconds: 100}
}

func kill(spec *v1alpha1.FaultSpec) {
	spec.Action, spec.Kill = v1alpha1.FaultActionKill, &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAtOnce}
}

func newCluster(t *testing.T, edit func(*v1alpha1.FaultSpec)) *cluster {
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
		events: events.NewFakeRecorder(1000), clock: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC),
	}
	c.network = &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "net"},
		Spec: v1alpha1.ShardNetworkSpec{
			Shards: 2, ProducersPerShard: 2, RPCNodes: 1, ArchiveNodes: 1,
			Regions: []v1alpha1.Region{{Name: "north", Nodes: 6}},
			Genesis: v1alpha1.GenesisSpec{AccountsPerShard: 100},
			Node:    v1alpha1.NodeSpec{Features: v1alpha1.NodeFeatures{SaveUntrackedChunkParts: v1alpha1.SwitchEnabled}},
		},
	}
	c.must(direct.Create(t.Context(), c.network))
	c.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning, "it runs")
	c.runNodes()
	c.fault = c.newFault("fault", edit)
	return c
}

func (c *cluster) newFault(name string, edit func(*v1alpha1.FaultSpec)) *v1alpha1.Fault {
	c.t.Helper()
	made := &v1alpha1.Fault{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.network.Namespace, Name: name},
		Spec: v1alpha1.FaultSpec{
			NetworkName: "net", Validators: v1alpha1.FaultValidators{Names: []string{victim}}, DurationSeconds: 30,
		},
	}
	edit(&made.Spec)
	c.must(c.client.Create(c.t.Context(), made))
	return made
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) plan() *topology.Plan {
	c.t.Helper()
	plan, err := topology.New(c.network)
	c.must(err)
	return plan
}

// runNodes has a pod run for each validator of the network.
func (c *cluster) runNodes() {
	c.t.Helper()
	plan := c.plan()
	for i := range plan.Nodes {
		c.runNode(&plan.Nodes[i])
	}
}

// runNode has a pod run for a validator, unless there is one.
func (c *cluster) runNode(validator *topology.Validator) {
	c.t.Helper()
	if c.pod(resources.PodName(validator.Name)) != nil {
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.network.Namespace, Name: resources.PodName(validator.Name),
			Labels: resources.ValidatorLabels("net", *validator),
		},
		Spec: corev1.PodSpec{
			NodeName:   "machine",
			Containers: []corev1.Container{{Name: resources.ContainerName, Image: "shardnode"}},
		},
	}
	c.must(c.client.Create(c.t.Context(), pod))
	pod.Status.Phase = corev1.PodRunning
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// serveAdmin has the victim serve its admin API at an address, and counts how often it
// ended a fault of its links by the token of the network.
func (c *cluster) serveAdmin(address string) *atomic.Int64 {
	c.t.Helper()
	return c.serveNode(victim, c.makeKeys()[victim], address)
}

// makeKeys makes the keys of all nodes, and the documents and the token by which the nodes
// are reached.
func (c *cluster) makeKeys() map[string]keys.Key {
	c.t.Helper()
	plan := c.plan()
	made, public, addresses := map[string]keys.Key{}, map[string]ed25519.PublicKey{}, map[string]string{}
	for i := range plan.Nodes {
		name := plan.Nodes[i].Name
		key, err := keys.Generate()
		c.must(err)
		made[name], public[name], addresses[name] = key, key.Public(), "host:1"
	}
	genesis, err := nodeconfig.NewGenesis(c.network, plan, public, time.Unix(1, 0))
	c.must(err)
	document, err := resources.NewGenesis(c.network, genesis)
	c.must(err)
	c.must(c.client.Create(c.t.Context(), document))
	c.must(c.client.Create(c.t.Context(), resources.NewAdminToken(c.network, "the-token")))

	peers, err := nodeconfig.NewPeers(plan, public, addresses)
	c.must(err)
	content, err := nodeconfig.Encode(peers)
	c.must(err)
	c.must(c.client.Create(c.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.network.Namespace, Name: resources.PeersName(c.network.Name)},
		Data:       map[string]string{"peers-0123456789abcdef.json": string(content)},
	}))
	return made
}

// serveNode has a node serve its admin API as serveAdmin has the victim.
func (c *cluster) serveNode(name string, key keys.Key, address string) *atomic.Int64 {
	c.t.Helper()
	ended := &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("DELETE /admin/links", func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer the-token" {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		ended.Add(1)
		_, _ = response.Write([]byte("{}"))
	})
	listener, err := adminapi.Listen(c.t.Context(), net.JoinHostPort(address, strconv.Itoa(topology.DefaultPorts.Admin)), key)
	c.must(err)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	c.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	c.address(name, address)
	return ended
}

// address gives the pod of a node an address.
func (c *cluster) address(name, address string) {
	c.t.Helper()
	pod := c.pod(resources.PodName(name))
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// condition gives the network a condition.
func (c *cluster) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	c.t.Helper()
	c.must(c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.network), c.network))
	meta.SetStatusCondition(&c.network.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: c.network.Generation,
	})
	c.must(c.client.Status().Update(c.t.Context(), c.network))
}

func (c *cluster) reconciler(writer client.Client) *Reconciler {
	return &Reconciler{
		client: writer, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
	}
}

// tryReconcile runs an operator that has seen nothing once, and reads the fault again;
// false when it is gone.
func (c *cluster) tryReconcile(fault *v1alpha1.Fault) (bool, error) {
	c.t.Helper()
	key := client.ObjectKeyFromObject(fault)
	var failed error
	c.result, failed = c.reconciler(c.client).Reconcile(c.t.Context(), ctrl.Request{NamespacedName: key})
	return c.read(fault), failed
}

// read reads a fault; false when it is gone.
func (c *cluster) read(fault *v1alpha1.Fault) bool {
	c.t.Helper()
	err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(fault), fault)
	if apierrors.IsNotFound(err) {
		return false
	}
	c.must(err)
	if ready := ready(fault); ready != nil && !slices.Contains(c.told, ready.Message) {
		c.told = append(c.told, ready.Message)
	}
	return true
}

func (c *cluster) reconcile() {
	c.t.Helper()
	_, err := c.tryReconcile(c.fault)
	c.must(err)
}

func ready(fault *v1alpha1.Fault) *metav1.Condition {
	return meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionReady)
}

// pod is a pod; nil when there is none.
func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{}
	err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.network.Namespace, Name: name}, pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.must(err)
	return pod
}

func (c *cluster) watcher() *corev1.Pod {
	c.t.Helper()
	return c.pod(resources.WatcherName(c.fault.Name))
}

// end has the pod that measures end with an exit code and last words.
func (c *cluster) end(pod *corev1.Pod, exitCode int32, message string) {
	c.t.Helper()
	pod.Status.Phase = corev1.PodSucceeded
	if exitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: resources.NameWatcher, Image: pod.Spec.Containers[0].Image, ImageID: "test",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Message: message}},
	}}
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// outcome is what the pod that measures says at its end.
func (c *cluster) outcome() string {
	c.t.Helper()
	now := metav1.NewTime(c.clock)
	message, err := faulting.EncodeOutcome(&v1alpha1.FaultStatus{
		StartTime: &now, EndTime: &now, RecoveryMilliseconds: ptr.To[int64](1200),
		Validators: []v1alpha1.FaultValidatorStatus{{Name: victim, Reached: v1alpha1.FaultImpaired, Asked: 150, Answered: 149, Impaired: 148}},
		Windows:    []v1alpha1.FaultWindow{{Name: v1alpha1.FaultDuring, DurationMilliseconds: 30_000, Blocks: 40}},
		Felt:       []v1alpha1.FaultMeasure{v1alpha1.FaultSlowBlocks},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionEffective, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFelt, LastTransitionTime: now},
			{Type: v1alpha1.ConditionRecovered, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAsBefore, LastTransitionTime: now},
		},
	})
	c.must(err)
	return message
}

// act has all others do what they would do next: the machine starts the pod that
// measures, which waits to see a validator gone where the operator kills it, and the
// StatefulSets make pods again.
func (c *cluster) act() {
	c.t.Helper()
	pod := c.watcher()
	killed := c.pod(resources.PodName(victim)) == nil
	if pod != nil && pod.DeletionTimestamp != nil {
		c.must(client.IgnoreNotFound(c.client.Delete(c.t.Context(), pod, client.GracePeriodSeconds(0))))
		return
	}
	switch {
	case pod == nil || resources.Gated(pod) || pods.Ended(pod):
	case pod.Status.Phase == corev1.PodPending:
		c.watchers = append(c.watchers, string(pod.UID))
		c.begin(pod)
	case fault.PartInPod(&c.fault.Spec) != "":
		c.end(pod, 0, c.outcome())
	case killed:
		c.crashes++
		c.end(pod, 0, c.outcome())
	default:
		c.due(pod)
	}
	if killed {
		c.runNodes()
	}
}

func (c *cluster) begin(pod *corev1.Pod) {
	c.t.Helper()
	pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, nil
	c.must(c.client.Status().Update(c.t.Context(), pod))
}

// due has the pod that measures say that the operator is to begin the fault.
func (c *cluster) due(pod *corev1.Pod) {
	c.t.Helper()
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	c.must(c.client.Status().Update(c.t.Context(), pod))
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

func (c *cluster) ended() bool { return faultpolicy.Ended(c.fault.Status.Phase) }

// running waits until the pod that measures runs.
func (c *cluster) running() *corev1.Pod {
	c.t.Helper()
	c.until("the pod runs", func() bool { pod := c.watcher(); return pod != nil && pod.Status.Phase == corev1.PodRunning })
	return c.watcher()
}

// untilEnded waits for the end without anybody but the machine that removes pods.
func (c *cluster) untilEnded() {
	c.t.Helper()
	for range maxSteps {
		if c.ended() {
			// The last step lets the fault go.
			c.reconcile()
			return
		}
		if pod := c.watcher(); pod != nil && pod.DeletionTimestamp != nil {
			c.act()
		}
		c.reconcile()
	}
	c.t.Fatalf("the fault does not end; it was told\n%s", strings.Join(c.told, "\n"))
}

// checkNotMeasured checks that it is known that a fault is not measured, and why.
func (c *cluster) checkNotMeasured(reason, words string) {
	c.t.Helper()
	status := &c.fault.Status
	ready := ready(c.fault)
	if status.Phase != v1alpha1.FaultNotMeasured || ready.Reason != reason || ready.Status != metav1.ConditionFalse ||
		!strings.Contains(ready.Message, words) || status.Problem == "" {
		c.t.Errorf("the fault is %s by %s: %s (%s), want NotMeasured by %s: %s",
			status.Phase, ready.Reason, ready.Message, status.Problem, reason, words)
	}
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionStalled) {
		c.t.Error("whoever waits for it waits in vain")
	}
	for _, kind := range []string{v1alpha1.ConditionEffective, v1alpha1.ConditionRecovered} {
		if found := meta.FindStatusCondition(status.Conditions, kind); found != nil {
			c.t.Errorf("%s is said to be %s", kind, found.Status)
		}
	}
	if len(c.fault.Finalizers) > 0 {
		c.t.Errorf("it cannot go: %q", c.fault.Finalizers)
	}
	if pod := c.watcher(); pod != nil && !pods.Ended(pod) {
		c.t.Errorf("its pod is %s", pod.Status.Phase)
	}
}

func (c *cluster) checkWaits(reason, words string) {
	c.t.Helper()
	c.reconcile()
	c.reconcile()
	if ready := ready(c.fault); c.fault.Status.Phase != v1alpha1.FaultPending || ready.Reason != reason ||
		!strings.Contains(ready.Message, words) {
		c.t.Errorf("the fault is %s by %s: %s, want Pending by %s: %s", c.fault.Status.Phase, ready.Reason, ready.Message, reason, words)
	}
	if pod := c.watcher(); pod != nil && !resources.Gated(pod) {
		c.t.Error("a pod measures it")
	}
}
