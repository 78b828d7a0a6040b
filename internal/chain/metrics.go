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
	metrics, err := parser.TextToMetricFamilies(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: decode metrics: %w", request.method, c.baseOf(request), request.path, err)
	}
	return metrics, nil
}
