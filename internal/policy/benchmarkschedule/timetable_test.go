// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
)

func newTimetable(t *testing.T, schedule, zone string) *schedulepolicy.Timetable {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	timetable, err := schedulepolicy.NewTimetable(schedule, location, now)
	if err != nil {
		t.Fatal(err)
	}
	return timetable
}

// What the API server lets through and cron does not know.
func TestSchedulesThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"0 0 * * FRI-MON":          "beyond end of range",
		"30-20 * * * *":            "beyond end of range",
		"0 0 30 2 *":               "its time never comes",
		"* * * *":                  "expected exactly 5 fields",
		"@every 2h":                "it names no times",
		"TZ=Asia/Tokyo 0 0 * * *":  "its time zone is that of spec.timeZone",
		"CRON_TZ=UTC":              "its time zone is that of spec.timeZone",
		"0 0 0 * * *":              "expected exactly 5 fields",
		"0 0 * * MONDAY,THURSDAYS": "failed to parse int",
	} {
		if _, err := schedulepolicy.NewTimetable(schedule, time.UTC, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error of %q is %v, want %q", schedule, err, want)
		}
	}
}

// The times of a schedule are those of its time zone, also where clocks change.
func TestTimesOfASchedule(t *testing.T) {
	t.Parallel()
	const berlin, saoPaulo = "Europe/Berlin", "America/Sao_Paulo"
	cases := map[string]struct {
		schedule, zone string
		from           string
		want           string
	}{
		"every day":                    {"30 2 * * *", "Etc/UTC", "2026-11-21T12:00:00Z", "2026-11-22T02:30 2026-11-23T02:30"},
		"every Sunday":                 {"0 5 * * SUN", "Etc/UTC", "2026-11-21T12:00:00Z", "2026-11-22T05:00 2026-11-29T05:00"},
		"in winter":                    {"30 2 * * *", berlin, "2026-11-21T12:00:00Z", "2026-11-22T01:30 2026-11-23T01:30"},
		"in summer":                    {"30 2 * * *", berlin, "2026-07-01T12:00:00Z", "2026-07-02T00:30 2026-07-03T00:30"},
		"an hour that is left out":     {"30 2 * * *", berlin, "2026-03-27T12:00:00Z", "2026-03-28T01:30 2026-03-30T00:30"},
		"an hour that comes twice":     {"30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30 2026-10-25T01:30 2026-10-26T01:30"},
		"hours where one is left out":  {"0 * * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00 2026-03-29T02:00"},
		"a midnight that is left out":  {"0 0 * * *", saoPaulo, "2018-11-03T12:00:00Z", "2018-11-05T02:00"},
		"a day after such a midnight":  {"30 12 * * *", saoPaulo, "2018-11-03T16:00:00Z", "2018-11-04T14:30"},
		"half an hour from the others": {"0 0 * * *", "Asia/Kolkata", "2026-11-21T12:00:00Z", "2026-11-21T18:30"},
		"the 29th of February":         {"0 0 29 2 *", "Etc/UTC", "2026-11-21T12:00:00Z", "2028-02-29T00:00"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, test.from)
			if err != nil {
				t.Fatal(err)
			}
			c := newScheduleCase(t, test.schedule)
			c.schedule.Spec.TimeZone, c.timetable = test.zone, newTimetable(t, test.schedule, test.zone)
			c.schedule.CreationTimestamp.Time, c.now = from, from
			var got []string
			for range strings.Count(test.want, " ") + 1 {
				c.step()
				c.now = c.status.NextScheduleTime.Time
				got = append(got, c.now.Format("2006-01-02T15:04"))
			}
			if times := strings.Join(got, " "); times != test.want {
				t.Errorf("the times are %s, want %s", times, test.want)
			}
		})
	}
}
