// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Encode writes a result as a document.
func Encode(result *Result) ([]byte, error) {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return content.Bytes(), nil
}

// Decode reads a document of this version, whichever program wrote it: fields that are
// not known here were added since, and change the meaning of no other.
func Decode(content []byte) (*Result, error) {
	var head struct {
		SchemaVersion int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	switch {
	case head.SchemaVersion > SchemaVersion:
		return nil, fmt.Errorf("the result has schema version %d, and this program reads version %d: one that is newer reads it",
			head.SchemaVersion, SchemaVersion)
	case head.SchemaVersion != SchemaVersion:
		return nil, fmt.Errorf("the result has schema version %d, and this program reads version %d", head.SchemaVersion, SchemaVersion)
	}
	var result Result
	if err := json.Unmarshal(content, &result); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	if len(result.Variants) == 0 {
		return nil, errors.New("result has no variants")
	}
	if err := result.checkBlocks(); err != nil {
		return nil, err
	}
	return &result, nil
}
