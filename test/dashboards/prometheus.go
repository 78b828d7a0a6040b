// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// Prometheus is a client of a Prometheus server.
type Prometheus struct {
	prometheus.API
	// URL is where the server is, such as http://127.0.0.1:9090.
	URL string
}

// NewPrometheus is a client of the server at an address.
func NewPrometheus(url string) (*Prometheus, error) {
	client, err := api.NewClient(api.Config{Address: url})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return &Prometheus{API: prometheus.NewAPI(client), URL: url}, nil
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
	var value model.Value
	var err error
	if query.Instant {
		value, _, err = p.Query(ctx, query.Expression, end)
	} else {
		value, _, err = p.QueryRange(ctx, query.Expression, prometheus.Range{Start: begin, End: end, Step: step})
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	points := 0
	for _, value := range valuesOf(value) {
		if !math.IsNaN(float64(value)) && !math.IsInf(float64(value), 0) {
			points++
		}
	}
	return points, nil
}

// valuesOf are the values of all series of an answer.
func valuesOf(answer model.Value) []model.SampleValue {
	var values []model.SampleValue
	switch answer := answer.(type) {
	case model.Vector:
		for _, sample := range answer {
			values = append(values, sample.Value)
		}
	case model.Matrix:
		for _, series := range answer {
			for _, pair := range series.Values {
				values = append(values, pair.Value)
			}
		}
	}
	return values
}

// Rules are rules that a server evaluates, by kind.
type Rules struct {
	Alerting  []prometheus.AlertingRule
	Recording []prometheus.RecordingRule
}

// EvaluatedRules are the rules that the server evaluates.
func (p *Prometheus) EvaluatedRules(ctx context.Context) (*Rules, error) {
	result, err := p.Rules(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the rules: %w", err)
	}
	rules := &Rules{}
	for _, group := range result.Groups {
		for _, rule := range group.Rules {
			switch rule := rule.(type) {
			case prometheus.AlertingRule:
				rules.Alerting = append(rules.Alerting, rule)
			case prometheus.RecordingRule:
				rules.Recording = append(rules.Recording, rule)
			}
		}
	}
	return rules, nil
}

// Of are the rules of some health, with what is wrong.
func (r *Rules) Of(health prometheus.RuleHealth) []string {
	var rules []string
	add := func(name string, is prometheus.RuleHealth, lastError string) {
		if is == health {
			rules = append(rules, fmt.Sprintf("%s is %s: %s", name, is, lastError))
		}
	}
	for i := range r.Alerting {
		add(r.Alerting[i].Name, r.Alerting[i].Health, r.Alerting[i].LastError)
	}
	for i := range r.Recording {
		add(r.Recording[i].Name, r.Recording[i].Health, r.Recording[i].LastError)
	}
	return rules
}

// Firing are the labels of all alerts of a name that fire.
func (p *Prometheus) Firing(ctx context.Context, name string) ([]model.LabelSet, error) {
	rules, err := p.EvaluatedRules(ctx)
	if err != nil {
		return nil, err
	}
	known, firing := false, []model.LabelSet(nil)
	for i := range rules.Alerting {
		rule := &rules.Alerting[i]
		if rule.Name != name {
			continue
		}
		known = true
		for _, alert := range rule.Alerts {
			if alert.State == prometheus.AlertStateFiring {
				firing = append(firing, alert.Labels)
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("no rule is the alert %s", name)
	}
	return firing, nil
}
