// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// running is a network of four whose update is complete.
func running(t *testing.T, changes ...func(*v1alpha1.ShardNetwork)) *machines {
	t.Helper()
	cluster := newCluster(t)
	network := cluster.create(changes...)
	cluster.mustReconcile(network)
	m := newMachines(cluster, network)
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	m.settle()
	if network.Status.StableRevision == nil || network.Status.Update != nil {
		t.Fatalf("all nodes run what the spec says, but the status is %+v", network.Status)
	}
	m.made = nil
	return m
}

// settle has the nodes that came last take part for long enough.
func (m *machines) settle() {
	m.t.Helper()
	for range 3 {
		m.mustReconcile(m.network)
	}
}

// change changes the spec of the network.
func (m *machines) change(change func(*v1alpha1.ShardNetworkSpec)) {
	m.t.Helper()
	before := m.network.DeepCopy()
	change(&m.network.Spec)
	if err := m.client.Patch(m.t.Context(), m.network, client.MergeFrom(before)); err != nil {
		m.t.Fatal(err)
	}
}

func logMore(spec *v1alpha1.ShardNetworkSpec) { spec.Node.Log.Level = v1alpha1.LogLevelDebug }

func (m *machines) updated() *metav1.Condition {
	for i := range m.network.Status.Conditions {
		if m.network.Status.Conditions[i].Type == v1alpha1.ConditionUpdated {
			return &m.network.Status.Conditions[i]
		}
	}
	return &metav1.Condition{}
}

var everyValidator = []string{"quickstart-s0-p0", "quickstart-s0-p1", "quickstart-s1-p0", "quickstart-s1-p1"}

// An update replaces every node once, whichever operator is there: here a new one
// for every look.
func TestRollout(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"by one operator": false, "by one operator after the other": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := running(t)
			stable := m.network.Status.StableRevision.Name
			m.change(logMore)
			away := 0
			m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate, func() {
				if gone := 4 - len(m.pods()); gone > 1 {
					t.Errorf("%d nodes are away at a time", gone)
				} else {
					away += gone
				}
				if killed {
					m.restart()
				}
			})
			if away != 4 || !slices.Equal(m.made, everyValidator) {
				t.Errorf("%v were replaced in %d steps, want each once", m.made, away)
			}
			m.settle()
			if now := m.network.Status.StableRevision.Name; now == stable {
				t.Errorf("the stable revision is still %s", now)
			}
			if update := m.network.Status.Update; update != nil {
				t.Errorf("the update is over, and the status says %+v", update)
			}
		})
	}
}

// The first node's twin stays until somebody has all that it has.
func TestRolloutWaitsForACompleteCopy(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(logMore)
	// Who starts lacks something, and says so.
	m.lacking = "shard 1 has not credited what was sent before height 900"
	for range 20 {
		m.work()
		m.mustReconcile(m.network)
	}
	if !slices.Equal(m.made, everyValidator[:1]) {
		t.Fatalf("%v were replaced, want only the first", m.made)
	}
	if phase := m.network.Status.Update.Phase; phase != v1alpha1.UpdateCanary {
		t.Errorf("the update is in the phase %s", phase)
	}
	check(t, m.network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonWaiting)
	// Whoever is to be replaced starts again with what it was made with.
	pods := m.pods()
	for i := range pods {
		level, want := m.mounted(&pods[i]).Log.Level, "info"
		if pods[i].Name == "quickstart-s0-p0-0" {
			want = "debug"
		}
		if level != want {
			t.Errorf("%s has the log level %s, want %s", pods[i].Name, level, want)
		}
	}

	m.tell("")
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if !slices.Equal(m.made, everyValidator) {
		t.Errorf("%v were replaced, want each once", m.made)
	}
}

// An only copy stays until it is given up.
func TestRolloutKeepsOnlyCopies(t *testing.T) {
	t.Parallel()
	m := running(t, func(network *v1alpha1.ShardNetwork) {
		network.Spec.ProducersPerShard, network.Spec.Regions[0].Nodes = 1, 2
	})
	m.change(logMore)
	m.until(metav1.ConditionFalse, v1alpha1.ReasonOnlyCopy)
	for range 5 {
		m.work()
		m.mustReconcile(m.network)
	}
	if len(m.made) != 0 {
		t.Fatalf("%v were replaced", m.made)
	}
	m.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Update.OnlyCopies = v1alpha1.OnlyCopiesDiscard })
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if len(m.made) != 2 {
		t.Errorf("%v were replaced, want both", m.made)
	}
}

// How nodes are replaced is no reason to replace them.
func TestUpdateSpecReplacesNothing(t *testing.T) {
	t.Parallel()
	m := running(t)
	generations := m.generations()
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Update = v1alpha1.UpdateSpec{
			MaxUnavailable: ptr.To[int32](3), OnTrouble: v1alpha1.OnTroubleRollBack, DeadlineSeconds: 30,
			OnlyCopies: v1alpha1.OnlyCopiesDiscard,
		}
	})
	for range 5 {
		m.work()
		m.mustReconcile(m.network)
	}
	check(t, m.network, v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if now := m.generations(); !slices.Equal(now, generations) || len(m.made) > 0 {
		t.Errorf("the StatefulSets were changed (%v, then %v), and %v replaced", generations, now, m.made)
	}
}

func (m *machines) generations() (generations []int64) {
	m.t.Helper()
	sets := &appsv1.StatefulSetList{}
	if err := m.client.List(m.t.Context(), sets, client.InNamespace(m.namespace)); err != nil {
		m.t.Fatal(err)
	}
	for i := range sets.Items {
		generations = append(generations, sets.Items[i].Generation)
	}
	return generations
}

// An update begins at its height: until then no pod is touched, and one that is lost
// is made again as it was.
func TestRolloutAtAHeight(t *testing.T) {
	t.Parallel()
	m := running(t)
	before, generations := m.images()[0], m.generations()
	const image = "shardnode:next"
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Node.Image, spec.Update.AtHeight = image, ptr.To[int64](1<<40)
	})
	m.until(metav1.ConditionFalse, v1alpha1.ReasonAwaitingHeight)
	if message := m.updated().Message; !strings.Contains(message, "the change of spec.node.image waits") {
		t.Errorf("the message is %q", message)
	}
	for range 3 {
		m.work()
		m.mustReconcile(m.network)
	}
	if now := m.generations(); !slices.Equal(now, generations) || len(m.made) > 0 || m.network.Status.Update != nil {
		t.Errorf("the StatefulSets were changed (%v, then %v), %v replaced, and the update is %+v",
			generations, now, m.made, m.network.Status.Update)
	}
	lost := m.pods()[0]
	if err := m.client.Delete(t.Context(), &lost, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	m.work()
	m.mustReconcile(m.network)
	if images := m.images(); !slices.Equal(images, slices.Repeat([]string{before}, 4)) {
		t.Errorf("the images are %v, want only %s", images, before)
	}

	// Of a chain that goes on by itself, the height is the next one.
	m.made = nil
	next := *m.network.Status.FinalizedHeight + 1
	m.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Update.AtHeight = &next })
	m.until(metav1.ConditionFalse, v1alpha1.ReasonUpdating)
	if started := m.network.Status.Update.StartHeight; started == nil || *started < next {
		t.Errorf("the update began at height %v, want %d or later", ptr.Deref(started, -1), next)
	}
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if !slices.Equal(m.made, everyValidator) {
		t.Errorf("%v were replaced, want each once", m.made)
	}
	if images := m.images(); !slices.Equal(images, slices.Repeat([]string{image}, 4)) {
		t.Errorf("the images are %v, want only %s", images, image)
	}
}

// An image that does not run stops at the first node, until the spec is another.
func TestPausedRollout(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Node.Image = badImage })
	m.until(metav1.ConditionFalse, v1alpha1.ReasonUpdatePaused)
	if !strings.Contains(m.updated().Message, "quickstart-s0-p0 ends with exit code 2") {
		t.Errorf("the message is %q", m.updated().Message)
	}
	if images := m.images(); !slices.Equal(images, []string{badImage, "shardnode:test", "shardnode:test", "shardnode:test"}) {
		t.Errorf("the images are %v", images)
	}
	m.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Node.Image = "shardnode:good" })
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	for _, image := range m.images() {
		if image != "shardnode:good" {
			t.Errorf("the images are %v", m.images())
		}
	}
}

// Another template of the pods is another revision of the nodes: they are replaced
// for it one after the other, and none for a template that is none.
func TestPodTemplateRollsThrough(t *testing.T) {
	t.Parallel()
	m := running(t)
	stable := m.network.Status.StableRevision.Name
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.PodTemplate = &v1alpha1.PodTemplate{
			Metadata: &v1alpha1.PodTemplateMetadata{Labels: map[string]v1alpha1.LabelValue{"team": "chain"}},
		}
	})
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	m.settle()
	if len(m.made) != 4 {
		t.Errorf("%v were replaced, want all four", m.made)
	}
	if now := m.network.Status.StableRevision; now.Name == stable || now.PodTemplate.Metadata.Labels["team"] != "chain" {
		t.Errorf("all nodes are said to run %+v", now)
	}
	sets := &appsv1.StatefulSetList{}
	if err := m.client.List(t.Context(), sets, client.InNamespace(m.namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range sets.Items {
		if labels := sets.Items[i].Spec.Template.Labels; labels["team"] != "chain" {
			t.Errorf("pods of %s have the labels %v", sets.Items[i].Name, labels)
		}
	}
}

// What nodes ran before includes the template of their pods.
func TestPodTemplateIsRolledBack(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Node.Image = badImage
		spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
		spec.PodTemplate = &v1alpha1.PodTemplate{
			Metadata: &v1alpha1.PodTemplateMetadata{Annotations: map[string]v1alpha1.AnnotationValue{"log": "json"}},
		}
	})
	m.until(metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	for range 12 {
		m.work()
		m.mustReconcile(m.network)
	}
	message := check(t, m.network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	if !strings.HasPrefix(message, "the change of spec.node.image, spec.podTemplate.metadata was rolled back") {
		t.Errorf("the message is %q", message)
	}
	sets := &appsv1.StatefulSetList{}
	if err := m.client.List(t.Context(), sets, client.InNamespace(m.namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range sets.Items {
		if value, ok := sets.Items[i].Spec.Template.Annotations["log"]; ok {
			t.Errorf("pods of %s have the annotation log=%s", sets.Items[i].Name, value)
		}
	}
}

// What nodes ran before includes what lies around them: links between regions, and
// where their traces go.
func TestSurroundingsAreRolledBack(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Node.Image = badImage
		spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
		region := spec.Regions[0].Name
		spec.Links = []v1alpha1.LinkSpec{{Between: []string{region, region}, DelayMilliseconds: 7}}
		spec.Tracing = &v1alpha1.TracingSpec{Endpoint: "http://collector:4318"}
	})
	m.until(metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	for range 12 {
		m.work()
		m.mustReconcile(m.network)
	}
	message := check(t, m.network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	if !strings.HasPrefix(message, "the change of spec.links, spec.node.image, spec.tracing was rolled back") {
		t.Errorf("the message is %q", message)
	}
	pods := m.pods()
	for i := range pods {
		if config := m.mounted(&pods[i]); len(config.Links) > 0 || config.Tracing != nil {
			t.Errorf("%s has the links %v and the tracing %v", pods[i].Name, config.Links, config.Tracing)
		}
	}
	if len(m.made) != 2 {
		t.Errorf("%v were replaced, want the first, and that again", m.made)
	}
}

// A change of what lies around nodes replaces each of them once, and can be the one
// that does harm.
func TestSurroundingsRollThrough(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Tracing = &v1alpha1.TracingSpec{Endpoint: "http://collector:4318"}
	})
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	m.settle()
	if !slices.Equal(m.made, everyValidator) {
		t.Errorf("%v were replaced, want each once", m.made)
	}
	if now := m.network.Status.StableRevision.Surroundings; now == nil || now.Tracing == nil {
		t.Errorf("all nodes are said to run in %+v", now)
	}
}

// A pod that was made before a change of what lies around nodes starts again with all that it
// mounts, the addresses of all nodes included, of which those with links know the regions.
func TestSurroundingsOfPodsThatWait(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.lacking = "shard 1 has not credited what was sent before height 900"
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		region := spec.Regions[0].Name
		spec.Links = []v1alpha1.LinkSpec{{Between: []string{region, region}, DelayMilliseconds: 7}}
		spec.Tracing = &v1alpha1.TracingSpec{Endpoint: "http://collector:4318"}
	})
	for range 10 {
		m.work()
		m.mustReconcile(m.network)
	}
	if !slices.Equal(m.made, everyValidator[:1]) {
		t.Fatalf("%v were replaced, want only the first", m.made)
	}
	pods := m.pods()
	for i := range pods {
		for _, source := range pods[i].Spec.Volumes[0].Projected.Sources {
			if source.ConfigMap == nil {
				continue
			}
			documents := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: source.ConfigMap.Name}}
			m.read(documents)
			for _, item := range source.ConfigMap.Items {
				if documents.Data[item.Key] == "" {
					t.Errorf("%s mounts %s of %s, which does not hold it", pods[i].Name, item.Key, documents.Name)
				}
			}
		}
	}
}

// The nodes run again what they ran before, the default image included, and the
// spec stays as it is. Operators come and go meanwhile.
func TestRolledBackRollout(t *testing.T) {
	t.Parallel()
	m := running(t)
	stable := m.network.Status.StableRevision.Name
	m.change(func(spec *v1alpha1.ShardNetworkSpec) {
		spec.Node.Image = badImage
		spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	})
	m.until(metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	for range 12 {
		m.restart()
		m.work()
		m.mustReconcile(m.network)
	}
	if images := m.images(); !slices.Equal(images, slices.Repeat([]string{"shardnode:test"}, 4)) {
		t.Errorf("the images are %v", images)
	}
	status := &m.network.Status
	if status.Update == nil || status.Update.Phase != v1alpha1.UpdateRolledBack || status.StableRevision.Name != stable ||
		status.NodeImage != "shardnode:test" {
		t.Errorf("the status is %+v, %+v", status, status.Update)
	}
	message := check(t, m.network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonRolledBack)
	if !strings.HasPrefix(message, "the change of spec.node.image was rolled back: quickstart-s0-p0 ends with exit code 2") {
		t.Errorf("the message is %q", message)
	}
	if said := check(t, m.network, v1alpha1.ConditionImageCompatible, metav1.ConditionTrue, v1alpha1.ReasonImageInUse); said !=
		"nodes are made with shardnode:test" {
		t.Errorf("the condition about the image says %q", said)
	}
	if m.network.Spec.Node.Image != badImage {
		t.Errorf("the spec says %s", m.network.Spec.Node.Image)
	}
	if !slices.Equal(m.made, []string{"quickstart-s0-p0", "quickstart-s0-p0"}) {
		t.Errorf("%v were replaced, want the first, and that again", m.made)
	}

	m.change(func(spec *v1alpha1.ShardNetworkSpec) { spec.Node.Image = "" })
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if len(m.made) != 2 {
		t.Errorf("%v were replaced, though the spec is what it was", m.made)
	}
}
