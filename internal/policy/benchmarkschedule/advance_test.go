// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
	"github.com/shardyard/shardyard/internal/resources"
)

var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// scheduleCase is a schedule in a cluster whose clock, and operator, do what a test
// wants.
type scheduleCase struct {
	schedule   *v1alpha1.BenchmarkSchedule
	timetable  *schedulepolicy.Timetable
	invalid    string
	benchmarks []v1alpha1.Benchmark
	now        time.Time
	// status is that of the schedule; started are all benchmarks that were made, and
	// news all that was told.
	status  *v1alpha1.BenchmarkScheduleStatus
	started []string
	news    []string
	made    int
	// dues are the times of all benchmarks that were made.
	dues []time.Time
}

// newScheduleCase has a schedule that was made just now.
func newScheduleCase(t *testing.T, schedule string) *scheduleCase {
	t.Helper()
	c := &scheduleCase{
		schedule: &v1alpha1.BenchmarkSchedule{
			ObjectMeta: metav1.ObjectMeta{Name: "nightly", Generation: 1, CreationTimestamp: metav1.NewTime(now)},
			Spec: v1alpha1.BenchmarkScheduleSpec{
				Schedule: schedule, TimeZone: "Etc/UTC", State: v1alpha1.ScheduleEnabled, StartingDeadlineSeconds: 600,
				SuccessfulHistoryLimit: ptr.To[int32](2), FailedHistoryLimit: ptr.To[int32](1),
			},
		},
		timetable: newTimetable(t, schedule, "Etc/UTC"), now: now,
	}
	c.status = &c.schedule.Status
	c.status.ObservedGeneration = -1
	return c
}

// observe looks at the schedule as an operator does, without doing anything.
func (c *scheduleCase) observe() (schedulepolicy.Step, *v1alpha1.BenchmarkScheduleStatus, *schedulepolicy.Observation) {
	o := &schedulepolicy.Observation{
		Schedule: c.schedule, Timetable: c.timetable, Invalid: c.invalid, Benchmarks: c.benchmarks, Now: c.now,
	}
	status := c.schedule.Status.DeepCopy()
	step := schedulepolicy.Advance(o, status)
	status.ObservedGeneration = c.schedule.Generation
	return step, status, o
}

// step has the operator look, and do what there is to do now.
func (c *scheduleCase) step() {
	for c.once() {
		continue
	}
}

// once has the operator look once, and says whether it is to look again at once.
func (c *scheduleCase) once() bool {
	step, status, o := c.observe()
	for _, benchmark := range step.Remove {
		c.remove(benchmark.Name)
	}
	if step.Start != nil {
		schedulepolicy.NoteMade(o, status, c.make(*step.Start), *step.Start)
	}
	for _, news := range step.News {
		c.news = append(c.news, news.Kind+" "+news.Reason+": "+news.Words)
	}
	*c.status = *status
	return !step.Until.IsZero() && !step.Until.After(c.now)
}

// make makes the benchmark of a time.
func (c *scheduleCase) make(due time.Time) *v1alpha1.Benchmark {
	benchmark := resources.NewScheduledBenchmark(c.schedule, due, nil)
	c.made++
	c.dues = append(c.dues, due)
	benchmark.UID = types.UID(fmt.Sprint("uid-", c.made))
	c.started = append(c.started, due.Format("15:04"))
	c.benchmarks = append(c.benchmarks, *benchmark)
	return benchmark
}

func (c *scheduleCase) remove(name string) {
	c.benchmarks = slices.DeleteFunc(c.benchmarks, func(benchmark v1alpha1.Benchmark) bool { return benchmark.Name == name })
}

// end has the latest benchmark end.
func (c *scheduleCase) end(phase v1alpha1.BenchmarkPhase) {
	benchmark := &c.benchmarks[len(c.benchmarks)-1]
	benchmark.Status.Phase, benchmark.Status.EndTime = phase, &metav1.Time{Time: c.now}
	benchmark.Status.TransfersPerSecond = ptr.To[int64](100)
	benchmark.Status.Figures = []v1alpha1.BenchmarkFigureStatus{{Figure: v1alpha1.FigureBlockTimeMilliseconds, Value: "601.5"}}
	benchmark.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Reason: "Because", Message: "it decided",
	}}
}

// at sets the clock, and has the operator look.
func (c *scheduleCase) at(clock string) {
	hour, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	c.now = time.Date(2026, time.November, 21, hour.Hour(), hour.Minute(), hour.Second(), 0, time.UTC)
	c.step()
}

func (c *scheduleCase) missed() int64 { return ptr.Deref(c.status.MissedRuns, 0) }

func (c *scheduleCase) condition(kind string) string {
	found := meta.FindStatusCondition(c.status.Conditions, kind)
	if found == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", found.Status, found.Reason, found.Message)
}

// What is started, and what is counted as missed, of a schedule of every hour that was
// made at 12:00.
func TestWhatAScheduleStarts(t *testing.T) {
	t.Parallel()
	const succeeded = v1alpha1.BenchmarkSucceeded
	cases := map[string]struct {
		given   func(c *scheduleCase)
		started string
		missed  int64
		onTime  string
		ready   string
	}{
		"nothing before its time": {
			func(c *scheduleCase) { c.at("12:00:00"); c.at("12:59:59") },
			"", 0, "True NothingDue: no benchmark was due yet",
			"True Scheduled: the next benchmark is due at 2026-11-21T13:00:00Z",
		},
		"at its time, once": {
			func(c *scheduleCase) { c.at("12:30:00"); c.at("13:00:00"); c.at("13:00:00"); c.at("13:00:01") },
			"13:00", 0, "True Started: the benchmark nightly-29921100 was started, which was due at 2026-11-21T13:00:00Z",
			"True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z; nightly-29921100 is under way",
		},
		"the next one after the last": {
			func(c *scheduleCase) { c.at("13:00:00"); c.end(succeeded); c.at("13:20:00"); c.at("14:00:00") },
			"13:00 14:00", 0, "True Started", "True Scheduled",
		},
		"late, within the deadline": {
			func(c *scheduleCase) { c.at("12:30:00"); c.at("13:10:00") }, "13:00", 0, "True Started", "True Scheduled",
		},
		"too late": {
			func(c *scheduleCase) { c.at("12:30:00"); c.at("13:10:01") }, "", 1,
			"False DeadlinePassed: no benchmark was started at 2026-11-21T13:00:00Z: the operator came to it 10m1s later, " +
				"and spec.startingDeadlineSeconds is 600",
			"True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z",
		},
		"the latest of several": {
			func(c *scheduleCase) { c.at("12:30:00"); c.at("16:05:00") }, "16:00", 3,
			"True Started: the benchmark nightly-29921280 was started, which was due at 2026-11-21T16:00:00Z; " +
				"3 times earlier passed without one", "True Scheduled",
		},
		"none of several": {
			func(c *scheduleCase) { c.at("12:30:00"); c.at("16:30:00") }, "", 4,
			"False DeadlinePassed: no benchmark was started at 4 times, the last of which was 2026-11-21T16:00:00Z", "True Scheduled",
		},
		"an operator that was away when the schedule was made": {
			func(c *scheduleCase) { c.at("13:05:00") }, "13:00", 0, "True Started", "True Scheduled",
		},
		"one at a time": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.at("14:00:00")
				c.at("14:30:00")
				c.end(succeeded)
				c.at("14:31:00")
			},
			"13:00", 1,
			"False PreviousUnderWay: no benchmark was started at 2026-11-21T14:00:00Z: the benchmark nightly-29921100 was still under way",
			"True Scheduled: the next benchmark is due at 2026-11-21T15:00:00Z",
		},
		"once the last one is over": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.at("14:00:00")
				c.end(succeeded)
				c.at("15:00:00")
			}, "13:00 15:00", 1, "True Started", "True Scheduled",
		},
		"none while one is being deleted": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.benchmarks[0].DeletionTimestamp = &metav1.Time{Time: c.now}
				c.at("14:00:00")
			}, "13:00", 1, "False PreviousUnderWay", "True Scheduled",
		},
		"not again what was deleted": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.benchmarks = nil
				c.at("13:00:30")
				c.at("13:30:00")
			}, "13:00", 0, "True Started", "True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z",
		},
		"none while suspended, nor after": {
			func(c *scheduleCase) {
				c.at("12:30:00")
				c.schedule.Spec.State = v1alpha1.ScheduleSuspended
				c.at("12:40:00")
				c.at("13:00:00")
				c.at("13:30:00")
				c.schedule.Spec.State = v1alpha1.ScheduleEnabled
				c.at("13:30:01")
			}, "", 0, "True NothingDue", "True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z",
		},
		"suspended from the start": {
			func(c *scheduleCase) {
				c.schedule.Spec.State = v1alpha1.ScheduleSuspended
				c.at("12:30:00")
				c.schedule.Spec.State = v1alpha1.ScheduleEnabled
				c.at("13:00:01")
			}, "", 0, "True NothingDue", "True Scheduled",
		},
		"suspended while one is under way": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.schedule.Spec.State = v1alpha1.ScheduleSuspended
				c.at("13:01:00")
			}, "13:00", 0, "True Started",
			"True Suspended: no benchmark is started until spec.state is Enabled again; times that pass until then are not made up for; " +
				"nightly-29921100 is under way",
		},
		"no time of another timetable": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.end(succeeded)
				c.timetable = halfPast
				c.at("14:45:00")
				c.at("15:30:00")
			}, "13:00 15:30", 0, "True Started", "True Scheduled",
		},
		"nothing twice when the clock is put back": {
			func(c *scheduleCase) {
				c.at("13:00:00")
				c.end(succeeded)
				c.at("13:30:00")
				c.at("12:30:00")
				c.at("13:00:00")
				c.at("13:00:30")
			}, "13:00", 0, "True Started", "True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z",
		},
		"a clock that was put back is said": {
			func(c *scheduleCase) { c.at("16:00:00"); c.end(succeeded); c.at("13:30:00") }, "16:00", 3, "True Started",
			"True Scheduled: the next benchmark is due at 2026-11-21T17:00:00Z; " +
				"the clock was put back: times up to 2026-11-21T16:00:00Z are done with",
		},
		"one that was made and not noted": {
			func(c *scheduleCase) {
				c.at("12:30:00")
				c.make(now.Add(time.Hour))
				c.at("13:00:10")
			}, "13:00", 0, "True Started", "True Scheduled: the next benchmark is due at 2026-11-21T14:00:00Z; nightly-29921100 is under way",
		},
		"one that was made, ended and was not noted": {
			func(c *scheduleCase) {
				c.at("12:30:00")
				c.make(now.Add(time.Hour))
				c.end(succeeded)
				c.at("13:50:00")
			}, "13:00", 0, "True Started", "True Scheduled",
		},
		"none of a schedule that cannot be understood": {
			func(c *scheduleCase) {
				c.at("12:30:00")
				c.timetable, c.invalid = nil, "beyond end of range"
				c.at("13:00:00")
				c.timetable, c.invalid = halfPast, ""
				c.at("13:31:00")
			}, "", 0, "True NothingDue", "True Scheduled: the next benchmark is due at 2026-11-21T14:30:00Z",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newScheduleCase(t, "0 * * * *")
			test.given(c)
			if got := strings.Join(c.started, " "); got != test.started || c.missed() != test.missed {
				t.Errorf("started are %q, and %d are missed, want %q and %d", got, c.missed(), test.started, test.missed)
			}
			if got := c.condition(v1alpha1.ConditionOnTime); !strings.HasPrefix(got, test.onTime) {
				t.Errorf("OnTime is %s, want %s", got, test.onTime)
			}
			if got := c.condition(v1alpha1.ConditionReady); !strings.HasPrefix(got, test.ready) {
				t.Errorf("Ready is %s, want %s", got, test.ready)
			}
		})
	}
}

// halfPast is another timetable.
var halfPast = func() *schedulepolicy.Timetable {
	timetable, err := schedulepolicy.NewTimetable("30 * * * *", time.UTC, now)
	if err != nil {
		panic(err)
	}
	return timetable
}()

func TestAScheduleThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	c := newScheduleCase(t, "0 * * * *")
	c.timetable, c.invalid = nil, "unknown time zone Mars/Olympus"
	c.at("13:00:00")
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionStalled} {
		want := `InvalidSchedule: no benchmark is started: spec.schedule "0 * * * *" in Etc/UTC cannot be understood: ` +
			"unknown time zone Mars/Olympus"
		if got := c.condition(kind); !strings.HasSuffix(got, want) {
			t.Errorf("%s is %s, want %s", kind, got, want)
		}
	}
	if c.status.NextScheduleTime != nil {
		t.Errorf("the next time is %s", c.status.NextScheduleTime)
	}
	c.timetable = halfPast
	c.at("13:01:00")
	if got := c.condition(v1alpha1.ConditionStalled); got != "none" {
		t.Errorf("Stalled is %s after the schedule was put right", got)
	}
}

// Why a benchmark was not made is said once its time is over.
func TestABenchmarkThatCouldNotBeMade(t *testing.T) {
	t.Parallel()
	c := newScheduleCase(t, "0 * * * *")
	c.at("12:30:00")
	c.now = now.Add(time.Hour)
	step, _, o := c.observe()
	if step.Start == nil {
		t.Fatal("no benchmark is started")
	}
	schedulepolicy.Hold(o, c.status, v1alpha1.ReasonApplyFailed, "exceeded quota")
	c.at("13:10:01")
	want := "False DeadlinePassed: no benchmark was started at 2026-11-21T13:00:00Z: it could not be made, ApplyFailed: exceeded quota, " +
		"and spec.startingDeadlineSeconds is 600"
	if got := c.condition(v1alpha1.ConditionOnTime); got != want {
		t.Errorf("OnTime is %s, want %s", got, want)
	}
}

// Each kind of end has its limit, and nothing goes before it is listed.
func TestWhatAScheduleKeeps(t *testing.T) {
	t.Parallel()
	c := newScheduleCase(t, "0 * * * *")
	phases := []v1alpha1.BenchmarkPhase{
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkRegressed,
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkSucceeded,
	}
	for i, phase := range phases {
		c.at(fmt.Sprintf("%d:00:00", 13+i))
		c.end(phase)
		before := len(c.benchmarks)
		if again := c.once(); !again || len(c.benchmarks) != before {
			t.Errorf("of %d benchmarks there are %d before the status that lists them is written; looked again: %v",
				before, len(c.benchmarks), again)
		}
		c.step()
	}
	var kept, listed []string
	for i := range c.benchmarks {
		due, _ := resources.ScheduledTime("nightly", c.benchmarks[i].Name)
		kept = append(kept, due.Format("15 ")+string(c.benchmarks[i].Status.Phase))
	}
	if want := []string{"16 Regressed", "17 Succeeded", "18 Succeeded"}; !slices.Equal(kept, want) {
		t.Errorf("kept are %q, want %q", kept, want)
	}
	for _, entry := range c.status.History {
		listed = append(listed, entry.ScheduleTime.Format("15 ")+string(entry.Phase))
	}
	want := []string{"18 Succeeded", "17 Succeeded", "16 Regressed", "15 Succeeded", "14 Failed", "13 Succeeded"}
	if !slices.Equal(listed, want) {
		t.Errorf("listed are %q, want %q", listed, want)
	}
	if got := c.status.LastSuccessfulTime; got == nil || got.Hour() != 18 {
		t.Errorf("the last success is %s", got)
	}
}

// What a benchmark came to is in the status, and told once.
func TestWhatAScheduleSaysOfABenchmark(t *testing.T) {
	t.Parallel()
	for phase, kind := range map[v1alpha1.BenchmarkPhase]string{
		v1alpha1.BenchmarkSucceeded: "Normal", v1alpha1.BenchmarkFailed: "Warning", v1alpha1.BenchmarkRegressed: "Warning",
	} {
		c := newScheduleCase(t, "0 * * * *")
		c.at("13:00:00")
		c.end(phase)
		c.at("13:30:00")
		c.at("13:31:00")
		last := c.status.LastResult
		if last.Name != "nightly-29921100" || *last.TransfersPerSecond != 100 || last.BlockTimeMilliseconds != "601.5" ||
			last.Phase != phase || last.Reason != "Because" || last.Message != "it decided" {
			t.Errorf("the last result is %+v", last)
		}
		want := []string{
			"Normal Started: the benchmark nightly-29921100 was started, which was due at 2026-11-21T13:00:00Z",
			fmt.Sprintf("%s %s: nightly-29921100: it decided", kind, phase),
		}
		if !slices.Equal(c.news, want) {
			t.Errorf("told is %q, want %q", c.news, want)
		}
	}
}

// A benchmark that is kept for longer than the list is not news again.
func TestAFullHistory(t *testing.T) {
	t.Parallel()
	c := newScheduleCase(t, "* * * * *")
	c.schedule.Spec.SuccessfulHistoryLimit, c.schedule.Spec.FailedHistoryLimit = ptr.To[int32](0), ptr.To[int32](32)
	for minute := range 40 {
		c.now = now.Add(time.Duration(minute+1) * time.Minute)
		c.step()
		c.end(v1alpha1.BenchmarkSucceeded)
		if minute == 0 {
			c.end(v1alpha1.BenchmarkFailed)
		}
		c.step()
		c.step()
	}
	if len(c.status.History) != 32 || len(c.benchmarks) != 1 {
		t.Errorf("%d are listed, and %d are kept, want 32 and the one that failed", len(c.status.History), len(c.benchmarks))
	}
	if got := strings.Count(strings.Join(c.news, "\n"), "Warning Failed"); got != 1 {
		t.Errorf("the one that failed is told %d times", got)
	}
}

func TestABenchmarkThatIsDeletedByHand(t *testing.T) {
	t.Parallel()
	c := newScheduleCase(t, "0 * * * *")
	c.at("13:00:00")
	if active := c.status.Active; active == nil || active.Name != "nightly-29921100" || active.UID != "uid-1" {
		t.Fatalf("under way is %+v", active)
	}
	c.benchmarks = nil
	c.at("13:05:00")
	last := c.news[len(c.news)-1]
	if c.status.Active != nil || !strings.HasPrefix(last, "Warning Deleted: the benchmark nightly-29921100 was deleted") {
		t.Errorf("under way is %+v, and the last news are %q", c.status.Active, last)
	}
	// Those of others are none of the schedule's, whatever owns them.
	c.benchmarks = []v1alpha1.Benchmark{{ObjectMeta: metav1.ObjectMeta{Name: "mine", UID: "mine"}}}
	c.at("14:00:00")
	if len(c.started) != 2 || c.missed() != 0 {
		t.Errorf("started are %q, and %d are missed", c.started, c.missed())
	}
}

// However long nobody looked, the latest time is found, and the count is bounded.
func TestALongAbsence(t *testing.T) {
	t.Parallel()
	// Sixty times on the 21st of each month.
	for until, last := range map[time.Time]time.Time{
		now.AddDate(10, 0, 0).Add(90 * time.Minute): now.AddDate(10, 0, 0).Add(59 * time.Minute),
		now.AddDate(2, 1, 0).Add(90 * time.Minute):  now.AddDate(2, 1, 0).Add(59 * time.Minute),
		// The 1500th is the last.
		now.AddDate(2, 1, 0).Add(30 * time.Second): now.AddDate(2, 1, 0),
	} {
		c := newScheduleCase(t, "* 12 21 * *")
		c.schedule.Spec.StartingDeadlineSeconds = 10
		c.step()
		c.now = until
		c.step()
		if got := c.status.ConsideredTime; !got.Time.Equal(last) || c.missed() != 1500 {
			t.Errorf("considered is %s, and %d are missed, want %s and 1500", got, c.missed(), last)
		}
		if got := c.condition(v1alpha1.ConditionOnTime); !strings.Contains(got, "at least 1500 times") {
			t.Errorf("OnTime is %s", got)
		}
	}
}

// chaos is what operators, clocks and users do.
type chaos struct {
	*scheduleCase
	*rapid.T

	// back says that the clock was put back, and stopped that the schedule was
	// suspended at times.
	back, stopped bool
}

func (c *chaos) happen() {
	switch rapid.IntRange(0, 7).Draw(c.T, "what") {
	case 3:
		c.now, c.back = c.now.Add(-time.Duration(rapid.IntRange(1, 3000).Draw(c.T, "back"))*time.Second), true
	case 4:
		if len(c.benchmarks) > 0 {
			c.end(rapid.SampledFrom([]v1alpha1.BenchmarkPhase{v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed}).Draw(c.T, "end"))
		}
	case 5:
		if len(c.benchmarks) > 0 {
			c.remove(c.benchmarks[len(c.benchmarks)-1].Name)
		}
	case 6:
		// An operator that is killed once it has made the benchmark.
		if step, _, _ := c.observe(); step.Start != nil {
			c.make(*step.Start)
		}
	case 7:
		c.stopped = true
		c.schedule.Spec.State = rapid.SampledFrom([]v1alpha1.ScheduleState{
			v1alpha1.ScheduleSuspended, v1alpha1.ScheduleEnabled,
		}).Draw(c.T, "state")
	default:
		c.now = c.now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(c.T, "seconds")) * time.Second)
	}
}

// underWay is how many benchmarks are.
func (c *chaos) underWay() int {
	number := 0
	for i := range c.benchmarks {
		if !benchmarkpolicy.Ended(c.benchmarks[i].Status.Phase) {
			number++
		}
	}
	return number
}

// There is one benchmark at a time, and one for a time at most. As long as the clock
// goes on, each time is either started or missed.
func TestEveryTimeIsConsideredOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := &chaos{scheduleCase: newScheduleCase(t, "*/10 * * * *"), T: r}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			c.happen()
			c.step()
			if number := c.underWay(); number > 1 {
				r.Fatalf("%d benchmarks are under way", number)
			}
		}
		slices.SortFunc(c.dues, time.Time.Compare)
		if once := slices.CompactFunc(slices.Clone(c.dues), time.Time.Equal); !c.stopped && len(once) != len(c.dues) {
			r.Fatalf("a benchmark was made twice: %s", c.dues)
		}
		passed := int64(c.now.Sub(now) / (10 * time.Minute))
		if got := int64(len(c.dues)) + c.missed(); !c.stopped && !c.back && got != passed {
			r.Fatalf("%d are started and %d missed, of %d", len(c.dues), c.missed(), passed)
		}
	})
}
