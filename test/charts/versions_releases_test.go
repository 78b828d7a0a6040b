// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// renameRelease upgrades a network's release to a chart of the newer version,
// which leaves the network the one that it is.
func (v *versions) renameRelease(t *testing.T, name string) {
	t.Helper()
	key := client.ObjectKey{Namespace: "default", Name: name}
	before := v.get(t, newer, key)
	v.mustRun(t, "upgrade", name, v.networkChart(t), "--set", "nodeTuning.enabled=false")
	if after := v.get(t, newer, key); after.GetUID() != before.GetUID() || after.GetDeletionTimestamp() != nil {
		t.Errorf("the network %s was %s and is %s", name, before.GetUID(), after.GetUID())
	}
}

// networkChart is the chart of networks, of the newer version.
func (v *versions) networkChart(t *testing.T) string {
	t.Helper()
	chart := filepath.Join(t.TempDir(), "testnet")
	if err := os.CopyFS(chart, os.DirFS(testnetChart)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(chart, "templates", "shardnetwork.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	group := v1alpha1.GroupVersion.Group + "/"
	renamed := strings.Replace(string(content), group+older, group+newer, 1)
	if renamed == string(content) {
		t.Fatalf("%s names no %s", path, older)
	}
	if err := os.WriteFile(path, []byte(renamed), 0o600); err != nil {
		t.Fatal(err)
	}
	return chart
}

// checkReleases makes sure that Helm goes on with a release of the newer version,
// and does not with one of a version that is not served.
func (v *versions) checkReleases(t *testing.T) {
	t.Helper()
	chart := v.networkChart(t)
	v.mustRun(t, "upgrade", "kept", chart, "--set", "nodeTuning.enabled=false")
	_, err := v.run("upgrade", "left", chart, "--set", "nodeTuning.enabled=false")
	if err == nil || !strings.Contains(err.Error(), "no matches for kind") {
		t.Errorf("upgrading a release of a version that is not served ends with: %v", err)
	}
	if _, err := v.run("uninstall", "left"); err == nil {
		t.Error("a release of a version that is not served was uninstalled")
	}
}
