// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/shardyard/shardyard/internal/chain"
)

// codeInvalid and codeUnavailable are the codes of the node contract for
// parameters that make no sense, and for what a node does not have.
const (
	codeInvalid     = -32602
	codeUnavailable = -32003
)

// requestError is of a request that makes no sense.
type requestError struct{ error }

func invalid(what, text string) error {
	return requestError{fmt.Errorf("invalid %s %q", what, text)}
}

// absentError is of what is asked for and not there.
type absentError struct{ error }

// told is an error that a node answers with: what it refuses, in its own words.
func told(err error) error {
	refusal, ok := errors.AsType[*chain.RPCError](err)
	switch {
	case !ok:
		return err
	case refusal.Code == codeInvalid:
		return requestError{errors.New(refusal.Message)}
	case refusal.Code == codeUnavailable:
		return absentError{errors.New(refusal.Message)}
	default:
		return err
	}
}

// statusOf is the HTTP status code of an error.
func statusOf(err error) int {
	if _, ok := errors.AsType[requestError](err); ok {
		return http.StatusBadRequest
	}
	if _, ok := errors.AsType[absentError](err); ok {
		return http.StatusNotFound
	}
	if errors.Is(err, errNobody) || errors.Is(err, errBusy) {
		return http.StatusServiceUnavailable
	}
	return http.StatusBadGateway
}
