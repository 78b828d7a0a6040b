// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type rpcAnswer struct {
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// call makes a JSON-RPC request.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	var answer rpcAnswer
	if err := c.send(ctx, request{
		method: http.MethodPost,
		path:   "/rpc",
		body:   rpcRequest{Version: "2.0", ID: 1, Method: method, Params: params},
	}, &answer); err != nil {
		return err
	}
	if err := answer.decode(result); err != nil {
		return fmt.Errorf("%s of %s: %w", method, c.base, err)
	}
	return nil
}

func (a rpcAnswer) decode(result any) error {
	switch {
	case a.Error != nil:
		return a.Error
	case a.Result == nil:
		return errors.New("answer has neither a result nor an error")
	default:
		return decode(a.Result, result)
	}
}
