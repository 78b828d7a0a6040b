// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// The node contract shows one document of each kind. What this package writes
// has exactly the same fields.
func TestDocumentsAreThoseOfTheNodeContract(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile(filepath.Join("..", "..", "docs", "node-contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("genesis", func(t *testing.T) {
		t.Parallel()
		checkSameFields[nodeconfig.Genesis](t, example(t, string(contract), "### Genesis (`genesis.json`)"))
	})
	t.Run("peers", func(t *testing.T) {
		t.Parallel()
		checkSameFields[nodeconfig.Peers](t, example(t, string(contract), "### Peers (`peers.json`)"))
	})
	t.Run("config", func(t *testing.T) {
		t.Parallel()
		checkSameFields[nodeconfig.Config](t, example(t, string(contract), "### Configuration (`config.json`)"))
	})
}

// example is the first JSON block after a heading.
func example(t *testing.T, contract, heading string) []byte {
	t.Helper()
	_, section, found := strings.Cut(contract, heading+"\n")
	if !found {
		t.Fatalf("the node contract has no heading %q", heading)
	}
	_, block, found := strings.Cut(section, "```json\n")
	if !found {
		t.Fatalf("%q has no JSON example", heading)
	}
	block, _, found = strings.Cut(block, "```")
	if !found {
		t.Fatalf("the JSON example of %q does not end", heading)
	}
	return []byte(block)
}

// checkSameFields reads a document and writes it again: a field that one side
// does not know is refused or missing.
func checkSameFields[T nodeconfig.Genesis | nodeconfig.Peers | nodeconfig.Config](t *testing.T, content []byte) {
	t.Helper()
	var document T
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	written, err := nodeconfig.Encode(&document)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the contract's document\n%s\nis written as\n%s", content, written)
	}
}
