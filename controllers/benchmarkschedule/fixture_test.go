// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// cluster is a namespace of the API server with a schedule of every hour, and an
// operator that looks at it.
type cluster struct {
	t        *testing.T
	client   client.Client
	schedule *v1alpha1.BenchmarkSchedule
	// clock is that of the operator. The schedule was made at the real time, in the
	// minutes before the hour of it.
	clock  time.Time
	hour   time.Time
	events *events.FakeRecorder
	// made are the UIDs of all benchmarks that there were.
	made []string
}

func newCluster(t *testing.T, edit func(*v1alpha1.BenchmarkScheduleSpec)) *cluster {
	t.Helper()
	direct, err := client.New(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, client: direct, events: events.NewFakeRecorder(1000)}
	c.schedule = &v1alpha1.BenchmarkSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "hourly"},
		Spec: v1alpha1.BenchmarkScheduleSpec{
			Schedule: "0 * * * *",
			Template: v1alpha1.BenchmarkTemplate{
				Metadata: v1alpha1.BenchmarkTemplateMetadata{
					Labels:      map[string]v1alpha1.LabelValue{"team": "protocol"},
					Annotations: map[string]v1alpha1.AnnotationValue{"example.com/why": "to see"},
				},
				Spec: v1alpha1.BenchmarkSpec{
					Network: v1alpha1.BenchmarkNetwork{Template: v1alpha1.BenchmarkNetworkTemplate{Spec: v1alpha1.ShardNetworkSpec{
						Shards: 1, ProducersPerShard: 1,
						Regions: []v1alpha1.Region{{Name: "north", Nodes: 1}},
						Genesis: v1alpha1.GenesisSpec{AccountsPerShard: 100},
					}}},
					Load: v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
						Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](0), DurationSeconds: 1}},
					}},
					WarmUpSeconds:   ptr.To[int32](0),
					DurationSeconds: 5,
				},
			},
		},
	}
	if edit != nil {
		edit(&c.schedule.Spec)
	}
	c.must(direct.Create(t.Context(), c.schedule))
	c.clock = c.schedule.CreationTimestamp.Time
	c.hour = c.clock.Truncate(time.Hour)
	return c
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// operator is one that has seen nothing.
func (c *cluster) operator(through client.Client) *Reconciler {
	return &Reconciler{client: through, reader: c.client, recorder: c.events, now: func() time.Time { return c.clock }}
}

// look has an operator look once, and reads again what there is. It says whether the
// operator is to look again before the clock goes on.
func (c *cluster) look(through client.Client) (bool, error) {
	c.t.Helper()
	key := client.ObjectKeyFromObject(c.schedule)
	result, failed := c.operator(through).Reconcile(c.t.Context(), ctrl.Request{NamespacedName: key})
	c.read()
	return failed != nil || result.RequeueAfter > 0 && result.RequeueAfter < time.Second, failed
}

func (c *cluster) read() {
	c.t.Helper()
	c.must(c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.schedule), c.schedule))
	for _, benchmark := range c.benchmarks() {
		if uid := string(benchmark.UID); !slices.Contains(c.made, uid) {
			c.made = append(c.made, uid)
		}
	}
}

// settle has operators look as long as they want to, and once more: that one has
// nothing to do.
func (c *cluster) settle() {
	c.t.Helper()
	for range 10 {
		again, err := c.look(c.client)
		c.must(err)
		if again {
			continue
		}
		before, names := c.schedule.ResourceVersion, c.names()
		if _, err := c.look(c.client); err != nil || c.schedule.ResourceVersion != before || !slices.Equal(c.names(), names) {
			c.t.Errorf("an operator that waits has something to do: %v", err)
		}
		return
	}
	c.t.Fatalf("the status changes all the time: %+v", c.schedule.Status)
}

// at sets the clock to an hour after that of the schedule's creation.
func (c *cluster) at(hours int, after time.Duration) {
	c.clock = c.hour.Add(time.Duration(hours)*time.Hour + after)
}

// name is the benchmark of such an hour.
func (c *cluster) name(hours int) string {
	return fmt.Sprintf("hourly-%d", c.hour.Add(time.Duration(hours)*time.Hour).Unix()/60)
}

// benchmarks are those of the namespace.
func (c *cluster) benchmarks() []v1alpha1.Benchmark {
	c.t.Helper()
	list := &v1alpha1.BenchmarkList{}
	c.must(c.client.List(c.t.Context(), list, client.InNamespace(c.schedule.Namespace)))
	return list.Items
}

func (c *cluster) names() []string {
	c.t.Helper()
	var names []string
	for _, benchmark := range c.benchmarks() {
		names = append(names, benchmark.Name)
	}
	slices.Sort(names)
	return names
}

// end has all benchmarks end that are under way.
func (c *cluster) end(phase v1alpha1.BenchmarkPhase) {
	c.t.Helper()
	for _, benchmark := range c.benchmarks() {
		if benchmark.Status.Phase != "" {
			continue
		}
		benchmark.Status.Phase, benchmark.Status.EndTime = phase, &metav1.Time{Time: c.clock}
		benchmark.Status.TransfersPerSecond = ptr.To[int64](1999)
		meta.SetStatusCondition(&benchmark.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded, Message: "all is well",
		})
		c.must(c.client.Status().Update(c.t.Context(), &benchmark))
	}
}

func (c *cluster) condition(kind string) metav1.Condition {
	c.t.Helper()
	found := meta.FindStatusCondition(c.schedule.Status.Conditions, kind)
	if found == nil {
		c.t.Fatalf("there is no condition %s: %+v", kind, c.schedule.Status)
	}
	return *found
}

// told are the events since the last time.
func (c *cluster) told() []string {
	var told []string
	for len(c.events.Events) > 0 {
		told = append(told, <-c.events.Events)
	}
	return told
}
