// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	// requestTimeout bounds requests whose context has no earlier deadline, so
	// that a node that hangs never makes its caller hang.
	requestTimeout = 5 * time.Second

	// maxAnswerBytes is far above the status of the largest network.
	maxAnswerBytes = 4 << 20
)

// Client talks to one node.
type Client struct {
	base  string
	http  *http.Client
	admin Admin
	// adminHTTP is nil when the node has no admin API that the client knows.
	adminHTTP *http.Client
}

// NewClient makes a client of the node whose HTTP API listens on an address,
// HOST:PORT. The zero Admin is for a client that makes no admin requests.
func NewClient(address string, admin Admin) *Client {
	client := &Client{
		base:  (&url.URL{Scheme: "http", Host: address}).String(),
		http:  newHTTPClient(&http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}),
		admin: admin,
	}
	if admin.Address != "" {
		client.adminHTTP = admin.client()
	}
	return client
}

// newHTTPClient makes a client that talks to nobody but whom it is told to. Its
// transport has no proxy, whatever the environment says: nodes are reached
// directly.
func newHTTPClient(transport *http.Transport) *http.Client {
	return &http.Client{
		Transport: transport,
		Timeout:   requestTimeout,
		// Nodes never redirect. A redirect is an answer like any other wrong one.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes the idle connections of the client.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.adminHTTP != nil {
		c.adminHTTP.CloseIdleConnections()
	}
}

// request is a request of the node's HTTP API.
type request struct {
	method string
	path   string
	// admin requests go to the admin API, with the token.
	admin bool
	// body is sent as JSON unless it is nil.
	body any
	// accept lists the status codes that have the answer; without it, 200.
	accept []int
}

// send sends a request and decodes its answer.
func (c *Client) send(ctx context.Context, request request, answer any) error {
	content, err := c.exchange(ctx, request)
	if err == nil {
		err = decode(content, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s%s: %w", request.method, c.baseOf(request), request.path, err)
	}
	return nil
}

// baseOf is where a request goes.
func (c *Client) baseOf(request request) string {
	if request.admin {
		return c.admin.base()
	}
	return c.base
}

func (c *Client) exchange(ctx context.Context, request request) ([]byte, error) {
	client := c.http
	if request.admin {
		client = c.adminHTTP
	}
	if client == nil {
		return nil, errNoAdmin
	}
	httpRequest, err := c.newRequest(ctx, request)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(httpRequest)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer response.Body.Close()

	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", withoutURL(err))
	}
	if len(content) > maxAnswerBytes {
		return nil, fmt.Errorf("answer is larger than %d bytes", maxAnswerBytes)
	}
	if response.StatusCode != http.StatusOK && !slices.Contains(request.accept, response.StatusCode) {
		return nil, newResponseError(response.StatusCode, content)
	}
	return content, nil
}

func (c *Client) newRequest(ctx context.Context, request request) (*http.Request, error) {
	var body io.Reader
	if request.body != nil {
		content, err := json.Marshal(request.body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(content)
	}
	httpRequest, err := http.NewRequestWithContext(ctx, request.method, c.baseOf(request)+request.path, body)
	if err != nil {
		return nil, withoutURL(err)
	}
	if request.body != nil {
		httpRequest.Header.Set("Content-Type", "application/json")
	}
	if request.admin {
		httpRequest.Header.Set("Authorization", "Bearer "+c.admin.Token)
	}
	return httpRequest, nil
}

func decode(content []byte, answer any) error {
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// withoutURL takes off what every error of this package says anyway.
func withoutURL(err error) error {
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		return urlError.Err
	}
	return err
}
