// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ResponseError is an answer that is not the one of a request that worked.
type ResponseError struct {
	// StatusCode is the HTTP status code.
	StatusCode int
	// Message is what the node says about it; empty if it says nothing.
	Message string
}

// Error names the status code and what the node says about it.
func (e *ResponseError) Error() string {
	text := fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	if e.Message == "" {
		return text
	}
	return text + ": " + e.Message
}

func newResponseError(statusCode int, content []byte) *ResponseError {
	var body struct {
		Error string `json:"error"`
	}
	// Whoever answers in another form is no node; the status code says enough.
	_ = json.Unmarshal(content, &body)
	return &ResponseError{StatusCode: statusCode, Message: body.Error}
}

// RPCError is the error of a JSON-RPC request.
type RPCError struct {
	// Code is the code of the error, as the node contract lists them.
	Code int `json:"code"`
	// Message is what the node says about it.
	Message string `json:"message"`
}

// Error names the code and what the node says about it.
func (e *RPCError) Error() string {
	return fmt.Sprintf("error %d: %s", e.Code, e.Message)
}
