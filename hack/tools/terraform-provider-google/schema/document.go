// SPDX-License-Identifier: Apache-2.0

// Package schema holds the schema of the google provider: of the resources that
// this repository's Terraform uses, at one version.
package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed google.json
var google []byte

// The schema of a provider, in the form in which "terraform providers schema
// -json" prints it.
type (
	// Document is the schema of a provider and of its resources.
	Document struct {
		// Version is the version of the provider.
		Version   string            `json:"provider_version"`
		Provider  Schema            `json:"provider"`
		Resources map[string]Schema `json:"resource_schemas"`
	}
	// Schema is the schema of a resource, or of the provider's configuration.
	Schema struct {
		Version int64 `json:"version"`
		Block   Block `json:"block"`
	}
	// Block is what a block may and must hold.
	Block struct {
		Attributes map[string]Attribute `json:"attributes,omitempty"`
		Blocks     map[string]Nested    `json:"block_types,omitempty"`
	}
	// Nested is a block inside another.
	Nested struct {
		// Nesting is single, list or set.
		Nesting  string `json:"nesting_mode"`
		Block    Block  `json:"block"`
		MinItems int64  `json:"min_items,omitempty"`
		// MaxItems is 0 where there is no limit.
		MaxItems int64 `json:"max_items,omitempty"`
	}
	// Attribute is an argument, or what Google says of a resource.
	Attribute struct {
		Type     json.RawMessage `json:"type"`
		Required bool            `json:"required,omitempty"`
		Optional bool            `json:"optional,omitempty"`
		Computed bool            `json:"computed,omitempty"`
	}
)

// Google is the schema of the google provider.
func Google() (*Document, error) {
	var document Document
	if err := json.Unmarshal(google, &document); err != nil {
		return nil, fmt.Errorf("read google.json: %w", err)
	}
	return &document, nil
}
