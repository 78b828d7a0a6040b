// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// versionPatterns find the version of the tree where it is written.
var versionPatterns = map[string][]string{
	"node/Cargo.toml":              {`(?m)^version = "(.*)"$`},
	"charts/shardyard/Chart.yaml":  {`(?m)^version: (.*)$`, `(?m)^appVersion: "?(.*?)"?$`},
	"charts/monitoring/Chart.yaml": {`(?m)^version: (.*)$`, `(?m)^appVersion: "?(.*?)"?$`},
	"charts/testnet/Chart.yaml":    {`(?m)^version: (.*)$`, `(?m)^appVersion: "?(.*?)"?$`},
}

// The node and the charts are of one version, which is that of the release that
// is made of them.
func TestVersionsAgree(t *testing.T) {
	versions := map[string][]string{}
	for path, patterns := range versionPatterns {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range patterns {
			found := regexp.MustCompile(pattern).FindSubmatch(content)
			if found == nil {
				t.Fatalf("%s has no version like %s", path, pattern)
			}
			versions[string(found[1])] = append(versions[string(found[1])], path)
		}
	}
	if len(versions) != 1 {
		t.Errorf("the versions and where they are: %v, want one", versions)
	}
}
