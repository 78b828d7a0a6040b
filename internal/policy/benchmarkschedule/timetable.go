// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// maxCounted bounds how many times that passed are counted: those of a schedule of
// every minute in a day, and few more.
const maxCounted = 1500

// Timetable is when the benchmarks of a schedule are due.
type Timetable struct {
	name     string
	times    *cron.SpecSchedule
	location *time.Location
}

// NewTimetable reads a schedule, in a time zone. One whose time never comes, such as
// the 30th of February, is an error.
func NewTimetable(schedule string, location *time.Location, now time.Time) (*Timetable, error) {
	if strings.Contains(schedule, "TZ=") {
		return nil, errors.New("its time zone is that of spec.timeZone, and of nothing else")
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	parsed, err := parser.Parse(schedule)
	if err != nil {
		return nil, err
	}
	times, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("it names no times, only how long to wait between them")
	}
	timetable := &Timetable{name: fmt.Sprintf("%s (%s)", schedule, location), times: times, location: location}
	if timetable.next(now).IsZero() {
		return nil, errors.New("its time never comes")
	}
	return timetable, nil
}

// String names the timetable: another name means other times.
func (t *Timetable) String() string { return t.name }

// next is the first time after another.
func (t *Timetable) next(after time.Time) time.Time {
	return t.times.Next(after.In(t.location)).UTC()
}

// passed is the latest time after one, and not after the other, and how many there
// are; at least so many if they are maxCounted. There may be none.
func (t *Timetable) passed(after, until time.Time) (latest time.Time, number int) {
	for due := t.next(after); number < maxCounted && !over(due, until); due = t.next(due) {
		latest = due
		number++
	}
	if number == maxCounted {
		latest = t.latest(latest, until)
	}
	return latest, number
}

// latest is the last time that is not after the other. It is looked for from the end,
// so that it does not depend on how long ago the first one is.
func (t *Timetable) latest(known, until time.Time) time.Time {
	for back := time.Minute; ; back *= 2 {
		from := until.Add(-back)
		if from.Before(known) {
			from = known
		}
		due := t.next(from)
		if over(due, until) && from != known {
			continue
		}
		for ; !over(due, until); due = t.next(due) {
			known = due
		}
		return known
	}
}

// over says whether a time has not come at another. There may be none for years.
func over(due, until time.Time) bool { return due.IsZero() || due.After(until) }
