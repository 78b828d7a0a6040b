// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule_test

import (
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
	"github.com/shardyard/shardyard/test/guide"
)

// The guide shows every trouble of a BenchmarkSchedule, and no others.
func TestGuideShowsEveryMessage(t *testing.T) {
	t.Parallel()
	shown := guide.Read(t, filepath.Join("..", "..", ".."), v1alpha1.KindBenchmarkSchedule)
	for _, trouble := range troubles(t) {
		shown.Shows(t, trouble.reason, trouble.condition)
	}
	shown.NothingElse(t)
}

// trouble is a condition that is not True, and how it comes about.
type trouble struct {
	reason    string
	condition metav1.Condition
}

// troubles are those of a schedule of every hour.
func troubles(t *testing.T) []trouble {
	t.Helper()
	of := func(reason, kind string, given func(c *scheduleCase)) trouble {
		c := newScheduleCase(t, "0 * * * *")
		c.at("12:30:00")
		given(c)
		return trouble{reason, *meta.FindStatusCondition(c.status.Conditions, kind)}
	}
	return []trouble{
		of(v1alpha1.ReasonInvalidSchedule, v1alpha1.ConditionReady, func(c *scheduleCase) {
			c.schedule.Spec.TimeZone = "Europe/Bielefeld"
			c.timetable, c.invalid = nil, "unknown time zone Europe/Bielefeld"
			c.at("13:00:00")
		}),
		of(v1alpha1.ReasonInvalidSchedule, v1alpha1.ConditionReady, func(c *scheduleCase) {
			c.schedule.Spec.Schedule = "0 0 30 2 *"
			_, err := schedulepolicy.NewTimetable(c.schedule.Spec.Schedule, time.UTC, c.now)
			c.timetable, c.invalid = nil, err.Error()
			c.at("13:00:00")
		}),
		of(v1alpha1.ReasonPreviousUnderWay, v1alpha1.ConditionOnTime, func(c *scheduleCase) {
			c.at("13:00:00")
			c.at("14:00:00")
		}),
		of(v1alpha1.ReasonDeadlinePassed, v1alpha1.ConditionOnTime, func(c *scheduleCase) { c.at("13:45:00") }),
		of(v1alpha1.ReasonDeadlinePassed, v1alpha1.ConditionOnTime, func(c *scheduleCase) { c.at("16:45:00") }),
		of(v1alpha1.ReasonDeadlinePassed, v1alpha1.ConditionOnTime, func(c *scheduleCase) {
			c.now = now.Add(time.Hour)
			_, _, o := c.observe()
			schedulepolicy.Hold(o, c.status, v1alpha1.ReasonApplyFailed, `apply Benchmark nightly-29921100: benchmarks.shardyard.dev `+
				`"nightly-29921100" is forbidden: exceeded quota: team, requested: count/benchmarks.shardyard.dev=1, `+
				`used: count/benchmarks.shardyard.dev=5, limited: count/benchmarks.shardyard.dev=5`)
			c.at("13:45:00")
		}),
	}
}
