// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are what a node tells Prometheus, by the name of the metric. Names of
// counters end in _total.
type Metrics map[string]*dto.MetricFamily

// Metrics asks a node for its metrics.
func (c *Client) Metrics(ctx context.Context) (Metrics, error) {
	request := request{method: http.MethodGet, path: "/metrics"}
	content, err := c.exchange(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", request.method, c.baseOf(request), request.path, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	metrics, err := parser.TextToMetricFamilies(bytes.NewReader(withoutExemplars(content)))
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: decode metrics: %w", request.method, c.baseOf(request), request.path, err)
	}
	return metrics, nil
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
