// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are what a node tells Prometheus, by the name of the metric. Names of
// counters end in _total.
type Metrics map[string]*dto.MetricFamily

// Metrics asks a node for its metrics.
func (c *Client) Metrics(ctx context.Context) (Metrics, error) {
	return c.metrics(ctx, withoutExemplars)
}

// CountersOf asks a node for counters of some names alone. It is for who asks often: to
// read all that a node tells takes many times as long.
func (c *Client) CountersOf(ctx context.Context, names ...string) (Metrics, error) {
	return c.metrics(ctx, func(text []byte) []byte {
		if !bytes.Contains(text, []byte("# TYPE ")) {
			// Nothing that is kept would say that these are no metrics.
			return text
		}
		return withoutExemplars(seriesOf(text, names))
	})
}

// metrics asks a node for its metrics, and reads what is kept of its text.
func (c *Client) metrics(ctx context.Context, keep func(text []byte) []byte) (Metrics, error) {
	request := request{method: http.MethodGet, path: "/metrics"}
	content, err := c.exchange(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", request.method, c.baseOf(request), request.path, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	metrics, err := parser.TextToMetricFamilies(bytes.NewReader(keep(content)))
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: decode metrics: %w", request.method, c.baseOf(request), request.path, err)
	}
	return metrics, nil
}

// seriesOf are the lines of series of some names.
func seriesOf(text []byte, names []string) []byte {
	var kept []byte
	for line := range bytes.Lines(text) {
		if end := bytes.IndexAny(line, "{ "); end > 0 && slices.Contains(names, string(line[:end])) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// withoutExemplars is what the older format has of an OpenMetrics text: series with
// their values, and not what led to these, which follows a # on the same line.
func withoutExemplars(text []byte) []byte {
	kept := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		value := line[:valueEnd(line)]
		kept = append(kept, value...)
		if len(value) < len(line) {
			kept = append(kept, '\n')
		}
	}
	return kept
}

// valueEnd is where the exemplar of a line begins, or the line ends. The values of
// labels are in quotes, in which a # says nothing.
func valueEnd(line []byte) int {
	if line[0] == '#' {
		return len(line)
	}
	quoted, escaped := false, false
	for i, char := range line {
		switch {
		case escaped:
			escaped = false
		case char == '"':
			quoted = !quoted
		case quoted:
			escaped = char == '\\'
		case char == '#':
			return len(bytes.TrimRight(line[:i], " "))
		}
	}
	return len(line)
}
