// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// maxPoints bounds the values that a query has of one series, as Prometheus
// bounds them.
const maxPoints = 11_000

// values are the result of a query.
type values struct {
	ResultType parser.ValueType `json:"resultType"`
	Result     parser.Value     `json:"result"`
}

// query evaluates an expression at one time.
func (a *api) query(r *http.Request) (any, annotations.Annotations, error) {
	at, err := timeOf(r, "time", time.Now())
	if err != nil {
		return nil, nil, err
	}
	query, err := a.store.engine.NewInstantQuery(r.Context(), a.store.db, nil, r.FormValue("query"), at)
	if err != nil {
		return nil, nil, invalid("query", err)
	}
	return evaluate(r, query)
}

// queryRange evaluates an expression again and again between two times.
func (a *api) queryRange(r *http.Request) (any, annotations.Annotations, error) {
	span, err := spanOf(r, time.Time{}, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	step, err := durationOf(r.FormValue("step"))
	if err != nil {
		return nil, nil, invalid("step", err)
	}
	if step < time.Millisecond {
		return nil, nil, invalid("step", fmt.Errorf("must be at least 1ms, is %s", step))
	}
	if span.end.Sub(span.start)/step > maxPoints {
		return nil, nil, invalid("step", fmt.Errorf("is so short that each series would have more than %d values", maxPoints))
	}
	query, err := a.store.engine.NewRangeQuery(r.Context(), a.store.db, nil, r.FormValue("query"), span.start, span.end, step)
	if err != nil {
		return nil, nil, invalid("query", err)
	}
	return evaluate(r, query)
}

func evaluate(r *http.Request, query promql.Query) (any, annotations.Annotations, error) {
	defer query.Close()
	result := query.Exec(r.Context())
	if result.Err != nil {
		return nil, result.Warnings, result.Err
	}
	if result.Value == nil {
		return nil, result.Warnings, errors.New("the query has no result")
	}
	// Once the query is closed, others overwrite its values.
	content, err := json.Marshal(values{result.Value.Type(), listed(result.Value)})
	if err != nil {
		return nil, result.Warnings, fmt.Errorf("encode the result: %w", err)
	}
	return json.RawMessage(content), result.Warnings, nil
}

// listed is a result of which no series is an empty list, as Prometheus answers, and
// not null.
func listed(value parser.Value) parser.Value {
	switch value := value.(type) {
	case promql.Matrix:
		if value == nil {
			return promql.Matrix{}
		}
	case promql.Vector:
		if value == nil {
			return promql.Vector{}
		}
	}
	return value
}
