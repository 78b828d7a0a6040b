// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// maxNames bounds the labels, values and series that one request lists.
const maxNames = 10_000

// maxSeconds bounds times and durations, so that no arithmetic on them
// overflows: some hundred years.
const maxSeconds = 1e10

// span is the time that a request is about.
type span struct {
	start, end time.Time
}

// invalid is the error of a parameter.
func invalid(parameter string, err error) error {
	return requestError{fmt.Errorf("invalid parameter %q: %w", parameter, err)}
}

// spanOf reads start and end. Without a default, which is the zero time, they
// have to be there.
func spanOf(r *http.Request, start, end time.Time) (asked span, err error) {
	if asked.start, err = timeOf(r, "start", start); err != nil {
		return span{}, err
	}
	if asked.end, err = timeOf(r, "end", end); err != nil {
		return span{}, err
	}
	if asked.end.Before(asked.start) {
		return span{}, invalid("end", errors.New("is before the start"))
	}
	return asked, nil
}

// timeOf reads a time: seconds since 1970, or RFC 3339.
func timeOf(r *http.Request, parameter string, absent time.Time) (time.Time, error) {
	text := r.FormValue(parameter)
	if text == "" && !absent.IsZero() {
		return absent, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(math.Abs(seconds) < maxSeconds) {
			return time.Time{}, invalid(parameter, fmt.Errorf("%q is no time", text))
		}
		return time.UnixMilli(int64(math.Round(seconds * 1000))), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || math.Abs(float64(at.Unix())) >= maxSeconds {
		return time.Time{}, invalid(parameter, fmt.Errorf("%q is no time", text))
	}
	return at, nil
}

// durationOf reads a duration: seconds, or a number with a unit.
func durationOf(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < maxSeconds/10 {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	duration, err := model.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration", text)
	}
	return time.Duration(duration), nil
}

// limitOf reads how much may be listed.
func limitOf(r *http.Request) (int, error) {
	text := r.FormValue("limit")
	if text == "" {
		return maxNames, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 0 {
		return 0, invalid("limit", fmt.Errorf("%q is no number of results", text))
	}
	// 0 is as many as there are.
	if limit == 0 || limit > maxNames {
		return maxNames, nil
	}
	return limit, nil
}

// selectorsOf reads which series are meant: those that any of these chooses.
func selectorsOf(r *http.Request) ([][]*labels.Matcher, error) {
	selectors, err := parser.ParseMetricSelectors(r.Form["match[]"])
	if err != nil {
		return nil, invalid("match[]", err)
	}
	for _, selector := range selectors {
		if !chooses(selector) {
			return nil, invalid("match[]", errors.New("must contain at least one matcher that the empty text does not satisfy"))
		}
	}
	return selectors, nil
}

func chooses(selector []*labels.Matcher) bool {
	for _, matcher := range selector {
		if !matcher.Matches("") {
			return true
		}
	}
	return false
}
