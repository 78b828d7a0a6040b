// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
)

// exemplified are the exemplars of a series, the oldest first.
type exemplified struct {
	SeriesLabels labels.Labels `json:"seriesLabels"`
	Exemplars    []example     `json:"exemplars"`
}

// example is an exemplar as Prometheus writes it.
type example struct {
	Labels labels.Labels `json:"labels"`
	Value  string        `json:"value"`
	// Timestamp is in seconds since 1970.
	Timestamp float64 `json:"timestamp"`
}

// queryExemplars lists the exemplars of all series that an expression is about.
func (a *api) queryExemplars(r *http.Request) (any, annotations.Annotations, error) {
	now := time.Now()
	span, err := spanOf(r, now.Add(-retention), now)
	if err != nil {
		return nil, nil, err
	}
	expression, err := parser.ParseExpr(r.FormValue("query"))
	if err != nil {
		return nil, nil, invalid("query", err)
	}
	querier, err := a.store.db.ExemplarQuerier(r.Context())
	if err != nil {
		return nil, nil, err
	}
	found, err := querier.Select(span.start.UnixMilli(), span.end.UnixMilli(), parser.ExtractSelectors(expression)...)
	if err != nil {
		return nil, nil, err
	}
	all := make([]exemplified, 0, len(found))
	for _, series := range found {
		all = append(all, exemplified{series.SeriesLabels, examples(series.Exemplars)})
	}
	return all, nil, nil
}

func examples(of []exemplar.Exemplar) []example {
	written := make([]example, 0, len(of))
	for _, one := range of {
		written = append(written, example{
			Labels:    one.Labels,
			Value:     strconv.FormatFloat(one.Value, 'f', -1, 64),
			Timestamp: float64(one.Ts) / 1000,
		})
	}
	return written
}
