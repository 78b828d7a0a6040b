// SPDX-License-Identifier: Apache-2.0

package tuning

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// requestTimeout bounds how long an agent that hangs makes its caller wait.
	requestTimeout = 2 * time.Second
	// maxReportBytes is far above the longest report.
	maxReportBytes = 64 << 10
)

// Client asks agents for their reports.
type Client struct {
	port int
	http *http.Client
}

// NewClient makes a client of agents that serve at a port.
func NewClient(port int) *Client {
	return &Client{port: port, http: &http.Client{
		// No proxy, whatever the environment says: agents are reached directly.
		Transport: &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		Timeout:   requestTimeout,
		// Agents never redirect. A redirect is an answer like any other wrong one.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Report asks the agent of a machine, by the machine's address.
func (c *Client) Report(ctx context.Context, address string) (*Report, error) {
	target := url.URL{Scheme: "http", Host: net.JoinHostPort(address, strconv.Itoa(c.port)), Path: PathReport}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask agent: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask agent: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask agent: %s answers %s", &target, response.Status)
	}
	report := &Report{}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxReportBytes)).Decode(report); err != nil {
		return nil, fmt.Errorf("read report of %s: %w", &target, err)
	}
	return report, nil
}
