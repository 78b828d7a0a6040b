// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Prometheus is a client of a Prometheus server.
type Prometheus struct {
	// URL is where the server is, such as http://127.0.0.1:9090.
	URL string
}

// HasData says whether a query has an answer with a number in it, now or, if
// the query is about a range, in the last minute.
func (p *Prometheus) HasData(ctx context.Context, query Query) (bool, error) {
	now := time.Now()
	points, err := p.Points(ctx, query, now.Add(-time.Minute), now, 5*time.Second)
	return points > 0, err
}

// Points is how many numbers there are in the answer to a query, at its end or, if the
// query is about a range, at every step of it.
func (p *Prometheus) Points(ctx context.Context, query Query, begin, end time.Time, step time.Duration) (int, error) {
	path, values := "query_range", url.Values{
		"query": {query.Expression},
		"start": {begin.Format(time.RFC3339)},
		"end":   {end.Format(time.RFC3339)},
		"step":  {step.String()},
	}
	if query.Instant {
		path, values = "query", url.Values{"query": {query.Expression}, "time": {end.Format(time.RFC3339)}}
	}
	var data struct {
		Result []struct {
			Value  sample
			Values []sample
		}
	}
	if err := p.get(ctx, path, values, &data); err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	points := 0
	for _, series := range data.Result {
		for _, sample := range append(series.Values, series.Value) {
			if sample.isNumber() {
				points++
			}
		}
	}
	return points, nil
}

// Values are the values that a variable offers.
func (p *Prometheus) Values(ctx context.Context, variable Variable) ([]string, error) {
	var values []string
	err := p.get(ctx, "label/"+variable.Label+"/values", url.Values{"match[]": {variable.Series}}, &values)
	return values, err
}

// Rule is a rule that a server evaluates.
type Rule struct {
	Name, Query string
	// Health is ok once the rule was evaluated without an error, which is in
	// LastError.
	Health, LastError string
	// Type is alerting or recording.
	Type string
	// State of an alert is inactive, pending or firing.
	State string
	// Alerts are what an alert is about, one for each set of labels.
	Alerts []Alert
}

// Alert is an alert that fires or is about to.
type Alert struct {
	Labels map[string]string
	// State is pending or firing.
	State string
}

// Rules are the rules that the server evaluates.
func (p *Prometheus) Rules(ctx context.Context) ([]Rule, error) {
	var data struct{ Groups []struct{ Rules []Rule } }
	if err := p.get(ctx, "rules", nil, &data); err != nil {
		return nil, fmt.Errorf("list the rules: %w", err)
	}
	var all []Rule
	for _, group := range data.Groups {
		all = append(all, group.Rules...)
	}
	return all, nil
}

// Firing are the labels of all alerts of a name that fire.
func (p *Prometheus) Firing(ctx context.Context, name string) ([]map[string]string, error) {
	rules, err := p.Rules(ctx)
	if err != nil {
		return nil, err
	}
	known, firing := false, []map[string]string(nil)
	for _, rule := range rules {
		if rule.Type != "alerting" || rule.Name != name {
			continue
		}
		known = true
		for _, alert := range rule.Alerts {
			if alert.State == "firing" {
				firing = append(firing, alert.Labels)
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("no rule is the alert %s", name)
	}
	return firing, nil
}

// Series are the labels of the series that a selector chooses.
func (p *Prometheus) Series(ctx context.Context, selector string) ([]map[string]string, error) {
	var series []map[string]string
	err := p.get(ctx, "series", url.Values{"match[]": {selector}}, &series)
	return series, err
}

// Exemplar is a measurement that leads to a trace.
type Exemplar struct {
	Labels map[string]string
	Value  string
}

// Exemplars are those of the series that a query is about, of the last hour.
func (p *Prometheus) Exemplars(ctx context.Context, query string) ([]Exemplar, error) {
	now := time.Now()
	values := url.Values{"query": {query}, "start": {now.Add(-time.Hour).Format(time.RFC3339)}, "end": {now.Format(time.RFC3339)}}
	var data []struct{ Exemplars []Exemplar }
	if err := p.get(ctx, "query_exemplars", values, &data); err != nil {
		return nil, fmt.Errorf("list the exemplars of %s: %w", query, err)
	}
	var all []Exemplar
	for _, series := range data {
		all = append(all, series.Exemplars...)
	}
	return all, nil
}

// Kinds are the types of all metrics by their names, which those of counters
// have without _total.
func (p *Prometheus) Kinds(ctx context.Context) (map[string]string, error) {
	var data map[string][]struct{ Type string }
	if err := p.get(ctx, "metadata", nil, &data); err != nil {
		return nil, err
	}
	kinds := map[string]string{}
	for name, said := range data {
		for _, one := range said {
			kinds[name] = one.Type
		}
	}
	return kinds, nil
}

func (p *Prometheus) get(ctx context.Context, path string, values url.Values, into any) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/api/v1/"+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("read the answer of Prometheus: %w", err)
	}
	if answer.Status != "success" {
		return errors.New(answer.Error)
	}
	return nil
}

// sample is a time and a number in a string.
type sample []any

func (s sample) isNumber() bool {
	if len(s) != 2 {
		return false
	}
	text, isText := s[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	return isText && err == nil && !math.IsNaN(value) && !math.IsInf(value, 0)
}
