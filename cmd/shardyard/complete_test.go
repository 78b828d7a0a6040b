// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a shell offers is what there is.
func TestCompletions(t *testing.T) {
	t.Parallel()
	stateDir, kubeconfig := t.TempDir(), filepath.Join(t.TempDir(), "kubeconfig")
	for _, network := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(stateDir, network), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(stateDir, network, "genesis.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	contexts := `{"apiVersion": "v1", "kind": "Config", "contexts": [{"name": "home", "context": {}}, {"name": "away", "context": {}}]}`
	if err := os.WriteFile(kubeconfig, []byte(contexts), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		line string
		want []string
	}{
		"commands":            {"va", []string{"validate"}},
		"networks":            {"trace critical-path --state-dir " + stateDir + " --network |", []string{"one", "two"}},
		"networks of a node":  {"account --state-dir " + stateDir + " --network |", []string{"one", "two"}},
		"networks to keep":    {"backup --state-dir " + stateDir + " --network |", []string{"one", "two"}},
		"no networks":         {"account --state-dir " + filepath.Join(stateDir, "none") + " --network |", nil},
		"contexts":            {"sweep --kubeconfig " + kubeconfig + " --context |", []string{"away", "home"}},
		"formats":             {"plan -o |", []string{"json", "table", "yaml"}},
		"accounts":            {"account |", []string{"genesis/"}},
		"nothing after those": {"account genesis/0 |", nil},
		"manifests":           {"validate -f |", []string{"json", "yaml", "yml"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"__completeNoDesc"}
			for _, word := range strings.Fields(test.line) {
				args = append(args, strings.TrimSuffix(word, "|"))
			}
			if got := completions(t, args); !slices.Equal(got, test.want) {
				t.Errorf("%q is completed with %q, want %q", test.line, got, test.want)
			}
		})
	}
}

// completions are what a shell is told, in order: lines, of which the last one
// says with a colon what to make of them.
func completions(t *testing.T, args []string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"shardyard"}, args...), &stdout, &stderr); code != 0 {
		t.Fatalf("%v exits with %d: %s", args, code, &stderr)
	}
	offered, _, found := strings.Cut("\n"+stdout.String(), "\n:")
	if !found {
		t.Fatalf("%v prints %q", args, &stdout)
	}
	return slices.Sorted(slices.Values(strings.Fields(offered)))
}
