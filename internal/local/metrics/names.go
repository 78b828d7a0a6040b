// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

var errTruncated = errors.New("results truncated due to limit")

// lister lists names among the series that a selector chooses, or among all.
type lister func(storage.LabelQuerier, context.Context, *storage.LabelHints, ...*labels.Matcher) (
	[]string, annotations.Annotations, error)

// labels lists the names of labels.
func (a *api) labels(r *http.Request) (any, annotations.Annotations, error) {
	return a.list(r, storage.LabelQuerier.LabelNames)
}

// labelValues lists the values of a label.
func (a *api) labelValues(r *http.Request) (any, annotations.Annotations, error) {
	name := r.PathValue("name")
	if !model.UTF8Validation.IsValidLabelName(name) {
		return nil, nil, requestError{fmt.Errorf("invalid label name: %q", name)}
	}
	return a.list(r, func(querier storage.LabelQuerier, ctx context.Context, hints *storage.LabelHints, selector ...*labels.Matcher) (
		[]string, annotations.Annotations, error,
	) {
		return querier.LabelValues(ctx, name, hints, selector...)
	})
}

func (a *api) list(r *http.Request, list lister) (any, annotations.Annotations, error) {
	asked, err := listingOf(r)
	if err != nil {
		return nil, nil, err
	}
	querier, err := a.store.db.Querier(asked.start.UnixMilli(), asked.end.UnixMilli())
	if err != nil {
		return nil, nil, err
	}
	defer querier.Close()
	selectors := asked.selectors
	if len(selectors) == 0 {
		selectors = append(selectors, nil)
	}
	names, notes := map[string]bool{}, annotations.Annotations{}
	for _, selector := range selectors {
		// One more than the limit tells that there are more.
		found, warnings, err := list(querier, r.Context(), &storage.LabelHints{Limit: asked.limit + 1}, selector...)
		notes.Merge(warnings)
		if err != nil {
			return nil, notes, err
		}
		for _, name := range found {
			names[name] = true
		}
	}
	sorted := append([]string{}, slices.Sorted(maps.Keys(names))...)
	if len(sorted) > asked.limit {
		sorted = sorted[:asked.limit]
		notes.Add(errTruncated)
	}
	return sorted, notes, nil
}

// series lists the labels of series.
func (a *api) series(r *http.Request) (any, annotations.Annotations, error) {
	asked, err := listingOf(r)
	if err != nil {
		return nil, nil, err
	}
	if len(asked.selectors) == 0 {
		return nil, nil, requestError{errors.New("no match[] parameter provided")}
	}
	// This function tells the store that nobody asks for samples.
	hints := &storage.SelectHints{
		Start: asked.start.UnixMilli(), End: asked.end.UnixMilli(), Func: "series", Limit: asked.limit + 1,
	}
	querier, err := a.store.db.Querier(hints.Start, hints.End)
	if err != nil {
		return nil, nil, err
	}
	defer querier.Close()
	sets := make([]storage.SeriesSet, 0, len(asked.selectors))
	for _, selector := range asked.selectors {
		sets = append(sets, querier.Select(r.Context(), true, hints, selector...))
	}
	merged := storage.NewMergeSeriesSet(sets, 0, storage.ChainedSeriesMerge)
	found, notes := []labels.Labels{}, annotations.Annotations{}
	for merged.Next() {
		if len(found) == asked.limit {
			notes.Add(errTruncated)
			break
		}
		found = append(found, merged.At().Labels())
	}
	notes.Merge(merged.Warnings())
	return found, notes, merged.Err()
}

// listing is what a request wants listed.
type listing struct {
	span
	limit int
	// selectors choose the series.
	selectors [][]*labels.Matcher
}

func listingOf(r *http.Request) (asked listing, err error) {
	if asked.limit, err = limitOf(r); err != nil {
		return listing{}, err
	}
	if asked.selectors, err = selectorsOf(r); err != nil {
		return listing{}, err
	}
	now := time.Now()
	asked.span, err = spanOf(r, now.Add(-retention), now)
	return asked, err
}
