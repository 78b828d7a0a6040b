// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

// A network is four lines, and those that the guide shows.
func TestTheLeastManifest(t *testing.T) {
	t.Parallel()
	const path = "../../config/samples/minimal.yaml"
	network, err := manifest.Read(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := topology.New(network); err != nil || len(plan.Nodes) != 4 {
		t.Errorf("the plan is %+v: %v", plan, err)
	}

	content, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(content), "\n")
	if _, spec, _ := strings.Cut(shown, "\nspec:\n"); strings.Count(spec, "\n") != 4 {
		t.Errorf("the spec has more or less than four lines:\n%s", spec)
	}
	guide, err := os.ReadFile(filepath.FromSlash("../../docs/guides/kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "```yaml\n"+shown+"```\n") {
		t.Errorf("the guide does not show %s as it is:\n%s", path, shown)
	}
}
