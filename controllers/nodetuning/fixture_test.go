// SPDX-License-Identifier: Apache-2.0

package nodetuning

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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

const agentImage = "operator:test"

// cluster is a namespace of the API server, the operator that works in it, and
// machines whose agents say what the test lets them say.
type cluster struct {
	t          *testing.T
	client     client.Client
	reconciler *Reconciler
	tuning     *v1alpha1.NodeTuning
	machines   []machine
	// nodes are the Nodes of the cluster.
	nodes map[string]*corev1.Node
	// answers are what agents say, by the address of their machine.
	answers map[string]*tuning.Report
	clock   time.Time
}

// reader is the API server, with the Nodes of one test.
type reader struct {
	client.Reader
	nodes map[string]*corev1.Node
}

func (r reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	node, ok := object.(*corev1.Node)
	if !ok {
		return r.Reader.Get(ctx, key, object, options...)
	}
	known := r.nodes[key.Name]
	if known == nil {
		return apierrors.NewNotFound(corev1.Resource("nodes"), key.Name)
	}
	known.DeepCopyInto(node)
	return nil
}

// machine is a machine with a pod of an agent.
type machine struct {
	name, address string
	pod           *corev1.Pod
}

// Report is what the agent of a machine says.
func (c *cluster) Report(_ context.Context, address string) (*tuning.Report, error) {
	if report := c.answers[address]; report != nil {
		return report, nil
	}
	return nil, errors.New("no answer")
}

func newCluster(t *testing.T) *cluster {
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
		t: t, client: direct, nodes: map[string]*corev1.Node{}, answers: map[string]*tuning.Report{},
		clock: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC),
	}
	c.restart(Settings{Namespace: namespace.Name, Image: agentImage})
	c.tuning = &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: namespace.Name},
		Spec: v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{
			InterfaceQdisc: v1alpha1.QdiscFQ, RmemMaxBytes: 134217728,
		}},
	}
	c.must(direct.Create(t.Context(), c.tuning))
	return c
}

// restart has another operator work in the cluster, which has seen nothing.
func (c *cluster) restart(settings Settings) {
	c.reconciler = &Reconciler{
		client:   c.client,
		reader:   reader{c.client, c.nodes},
		recorder: events.NewFakeRecorder(100),
		settings: settings,
		agents:   c,
		drift:    drift.NewDetector(scheme, FieldManager),
		now:      func() time.Time { return c.clock },
		readBack: map[string]map[string]time.Time{},
	}
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// reconcile runs the operator once and reads the NodeTuning again, if it is
// still there.
func (c *cluster) reconcile() {
	c.t.Helper()
	_, err := c.reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.tuning)})
	c.must(err)
	err = c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.tuning), c.tuning)
	c.must(client.IgnoreNotFound(err))
}

// set is the DaemonSet of the agents; nil when there is none.
func (c *cluster) set() *appsv1.DaemonSet {
	c.t.Helper()
	return c.daemonSet(c.tuning.Name)
}

// restorers is the DaemonSet of those that put old values back; nil when there is
// none.
func (c *cluster) restorers() *appsv1.DaemonSet {
	c.t.Helper()
	return c.daemonSet(resources.RestoringName(c.tuning.Name))
}

func (c *cluster) daemonSet(name string) *appsv1.DaemonSet {
	c.t.Helper()
	set := &appsv1.DaemonSet{}
	err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.tuning.Name, Name: name}, set)
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.must(err)
	return set
}

// settle has the cluster take up the DaemonSet: every machine has a pod of it
// that runs.
func (c *cluster) settle() {
	c.t.Helper()
	c.settleAt(len(c.machines))
}

// settleAt has it take up the DaemonSet on so many machines.
func (c *cluster) settleAt(machines int) {
	c.t.Helper()
	set := c.set()
	set.Status.ObservedGeneration = set.Generation
	set.Status.DesiredNumberScheduled = int32(machines)
	set.Status.UpdatedNumberScheduled = int32(machines)
	c.must(c.client.Status().Update(c.t.Context(), set))
}

// addMachine adds a machine on which an agent runs.
func (c *cluster) addMachine() *machine {
	c.t.Helper()
	number := len(c.machines) + 1
	m := machine{name: fmt.Sprintf("machine-%d", number), address: fmt.Sprintf("192.0.2.%d", number)}
	c.nodes[m.name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: m.name, Labels: map[string]string{corev1.LabelOSStable: string(corev1.Linux)},
	}}
	c.run(&m, c.set())
	c.machines = append(c.machines, m)
	return &m
}

// run has a pod of a DaemonSet run on a machine.
func (c *cluster) run(m *machine, set *appsv1.DaemonSet) {
	c.t.Helper()
	template := set.Spec.Template
	m.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, GenerateName: "agent-" + m.name + "-", Labels: template.Labels},
		Spec:       template.Spec,
	}
	m.pod.Spec.NodeName = m.name
	c.must(c.client.Create(c.t.Context(), m.pod))
	m.pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, HostIP: m.address, HostIPs: []corev1.HostIP{{IP: m.address}}}
	c.must(c.client.Status().Update(c.t.Context(), m.pod))
}

// end has the agent of a machine end.
func (c *cluster) end(m *machine) {
	c.t.Helper()
	c.must(c.client.Delete(c.t.Context(), m.pod, client.GracePeriodSeconds(0)))
	m.pod = nil
	delete(c.answers, m.address)
}

// restored has the agent end that set a machine, if there is one, and another one
// say that it holds so many old values.
func (c *cluster) restored(m *machine, held int) {
	c.t.Helper()
	if m.pod != nil && m.pod.Labels[resources.LabelName] == resources.NameTuningAgent {
		c.end(m)
	}
	if m.pod == nil {
		c.run(m, c.restorers())
	}
	c.answer(m, &v1alpha1.NodeTuningSettings{}, held)
}

// noted are the machines of the status.
func (c *cluster) noted() string {
	var names []string
	for _, machine := range c.tuning.Status.Machines {
		names = append(names, machine.Name)
	}
	return strings.Join(names, " ")
}

// restoring are the machines that agents put old values back on.
func (c *cluster) restoring() string {
	set := c.restorers()
	if set == nil {
		return ""
	}
	var names []string
	affinity := set.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for _, term := range affinity.NodeSelectorTerms {
		names = append(names, term.MatchFields[0].Values...)
	}
	return strings.Join(names, " ")
}

// answer has the agent of a machine say that its settings are in these states.
func (c *cluster) answer(m *machine, settings *v1alpha1.NodeTuningSettings, held int, states ...v1alpha1.SettingState) {
	c.t.Helper()
	encoded, err := tuning.Encode(settings)
	c.must(err)
	report := &tuning.Report{Tuning: c.tuning.Name, Machine: m.name, SettingsHash: tuning.Hash(encoded), Held: held}
	for i, setting := range tuning.Settings(settings) {
		report.Settings = append(report.Settings, tuning.SettingReport{
			Name: setting.Name, State: states[i], Message: "about " + setting.Name,
		})
	}
	c.answers[m.address] = report
}

// check compares a condition, and returns its message.
func (c *cluster) check(kind string, status metav1.ConditionStatus, reason, words string) {
	c.t.Helper()
	condition := meta.FindStatusCondition(c.tuning.Status.Conditions, kind)
	if condition == nil {
		c.t.Fatalf("there is no condition %s among %+v", kind, c.tuning.Status.Conditions)
	}
	if condition.Status != status || condition.Reason != reason || !strings.Contains(condition.Message, words) {
		c.t.Errorf("%s is %s, %s: %s; want %s, %s: %s",
			kind, condition.Status, condition.Reason, condition.Message, status, reason, words)
	}
	if condition.ObservedGeneration != c.tuning.Generation || c.tuning.Status.ObservedGeneration != c.tuning.Generation {
		c.t.Errorf("%s is of generation %d, want %d", kind, condition.ObservedGeneration, c.tuning.Generation)
	}
}
