// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"encoding/json"
	"fmt"
)

// Encode writes a Genesis, Peers or a Config as the content of its file.
func Encode[T Genesis | Peers | Config](document *T) ([]byte, error) {
	content, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", *document, err)
	}
	return append(content, '\n'), nil
}
