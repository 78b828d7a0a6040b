// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"net/http"
)

// LogLevels are the least severe events that a node can log, from the fewest lines to
// the most.
var LogLevels = []string{"error", "warn", "info", "debug", "trace"}

type logSettings struct {
	Level string `json:"level"`
}

const logPath = "/admin/log"

// LogLevel asks a node for the least severe events that it logs. It is an admin
// request.
func (c *Client) LogLevel(ctx context.Context) (string, error) {
	var answer logSettings
	err := c.send(ctx, request{method: http.MethodGet, path: logPath, admin: true}, &answer)
	return answer.Level, err
}

// SetLogLevel sets the least severe events that a node logs from now on, and returns
// what the node made of it. It is an admin request.
func (c *Client) SetLogLevel(ctx context.Context, level string) (string, error) {
	var answer logSettings
	err := c.send(ctx, request{method: http.MethodPut, path: logPath, admin: true, body: logSettings{level}}, &answer)
	return answer.Level, err
}
