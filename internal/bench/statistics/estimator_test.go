// SPDX-License-Identifier: Apache-2.0

package statistics_test

import (
	"math"
	"testing"

	"github.com/shardyard/shardyard/internal/bench/statistics"
)

func rows(quantities ...float64) []statistics.Row {
	made := make([]statistics.Row, 0, len(quantities))
	for _, quantity := range quantities {
		made = append(made, statistics.Row{Quantity: quantity, By: 2})
	}
	return made
}

func TestEstimators(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		// From the largest to the smallest: 100 to 1.
		hundred[i] = float64(100 - i)
	}
	cases := map[string]struct {
		estimate statistics.Estimator
		rows     []statistics.Row
		want     float64
		none     bool
	}{
		"rate":                      {statistics.Rate, rows(1, 2, 9), 2, false},
		"rate of nothing":           {statistics.Rate, nil, 0, true},
		"rate by nothing":           {statistics.Rate, []statistics.Row{{Quantity: 1}}, 0, true},
		"rate of zero":              {statistics.Rate, rows(0, 0), 0, false},
		"median":                    {statistics.Quantile(0.5), rows(9, 1, 5), 5, false},
		"95th percentile":           {statistics.Quantile(0.95), rows(hundred...), 95, false},
		"99th percentile of one":    {statistics.Quantile(0.99), rows(7), 7, false},
		"percentile of nothing":     {statistics.Quantile(0.5), nil, 0, true},
		"largest":                   {statistics.Max, rows(-3, -1, -2), -1, false},
		"largest of nothing at all": {statistics.Max, nil, 0, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := test.estimate(test.rows)
			if ok == test.none || got != test.want {
				t.Errorf("is %v (%t), want %v (%t)", got, ok, test.want, !test.none)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		values []float64
		want   float64
		none   bool
	}{
		"odd":          {[]float64{104, 98, 100}, 6, false},
		"even":         {[]float64{99, 101, 90, 110}, 20, false},
		"all the same": {[]float64{5, 5, 5}, 0, false},
		"one":          {[]float64{5}, 0, true},
		"of nothing":   {[]float64{0, 0, 0}, 0, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := statistics.Spread(test.values)
			if ok == test.none || math.Abs(got-test.want) > 1e-9 {
				t.Errorf("is %v (%t), want %v (%t)", got, ok, test.want, !test.none)
			}
		})
	}
}
