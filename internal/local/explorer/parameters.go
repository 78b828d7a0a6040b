// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"net/http"
	"strconv"

	"github.com/shardyard/shardyard/internal/account"
)

// parse reads a number that is not negative.
func parse(what, text string) (uint64, error) {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, invalid(what, text)
	}
	return number, nil
}

// numberOf reads a parameter that may be left out.
func numberOf(r *http.Request, parameter string, absent uint64) (uint64, error) {
	text := r.URL.Query().Get(parameter)
	if text == "" {
		return absent, nil
	}
	return parse(parameter, text)
}

// parseHash reads 32 bytes in hexadecimal, which an account is too.
func parseHash(what, text string) (string, error) {
	id, err := account.ParseID(text)
	if err != nil {
		return "", invalid(what, text)
	}
	return id.String(), nil
}
