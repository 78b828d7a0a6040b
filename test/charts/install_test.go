// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const crdName = "shardnetworks.shardyard.dev"

// installed lists the names of all networks.
func (c cluster) installed(t *testing.T) []string {
	t.Helper()
	var networks v1alpha1.ShardNetworkList
	if err := c.List(t.Context(), &networks); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(networks.Items))
	for _, network := range networks.Items {
		names = append(names, network.Name)
	}
	slices.Sort(names)
	return names
}

// definition is the CRD as it is served; nil when it is not there.
func (c cluster) definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var definition apiextensionsv1.CustomResourceDefinition
	err := c.Get(t.Context(), client.ObjectKey{Name: crdName}, &definition)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &definition
}

// earlierOperatorChart is the operator's chart with a CRD that lacks something.
func earlierOperatorChart(t *testing.T) string {
	t.Helper()
	chart := filepath.Join(t.TempDir(), "shardyard")
	if err := os.CopyFS(chart, os.DirFS(operatorChart)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(chart, "files", "crds", "shardyard.dev_shardnetworks.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	earlier := bytes.Replace(content, []byte("    shortNames:\n    - sn\n"), nil, 1)
	if len(earlier) == len(content) {
		t.Fatal("the CRD has no short name to take away")
	}
	if err := os.WriteFile(path, earlier, 0o600); err != nil {
		t.Fatal(err)
	}
	return chart
}

func TestTheLifeOfTheCharts(t *testing.T) {
	cluster := startCluster(t)
	namespace := []string{"--namespace", "shardyard-system", "--create-namespace"}

	cluster.installOperator(t, earlierOperatorChart(t), namespace...)
	presets := listPresets(t)
	for _, preset := range presets {
		// Without NodeTunings, which keep the namespace of their agents.
		cluster.mustRun(t, "install", preset, testnetChart, "--set", "nodeTuning.enabled=false,preset="+preset)
	}
	if networks := cluster.installed(t); !slices.Equal(networks, presets) {
		t.Fatalf("the networks are %v, want %v", networks, presets)
	}

	cluster.mustRun(t, "upgrade", "op", operatorChart, "--namespace", "shardyard-system")
	if names := cluster.definition(t).Spec.Names.ShortNames; !slices.Equal(names, []string{"sn"}) {
		t.Errorf("after the upgrade the CRD has the short names %v, want sn", names)
	}

	cluster.mustRun(t, "uninstall", "op", "--namespace", "shardyard-system")
	if networks := cluster.installed(t); !slices.Equal(networks, presets) {
		t.Errorf("without the operator the networks are %v, want %v", networks, presets)
	}

	// Nobody here removes namespaces, such as the one for tuning machines: it is
	// on its way out for good.
	cluster.installOperator(t, operatorChart, append(namespace, "--set", "crds.keep=false,nodeTuning.enabled=false")...)
	for _, preset := range presets {
		cluster.mustRun(t, "uninstall", preset)
	}
	if networks := cluster.installed(t); len(networks) > 0 {
		t.Errorf("after they are uninstalled the networks are %v, want none", networks)
	}

	// Longer than the five minutes after which the API server looks again at a CRD
	// that it could not remove at once.
	cluster.mustRun(t, "uninstall", "op", "--namespace", "shardyard-system", "--wait", "--timeout", "6m")
	if cluster.definition(t) != nil {
		t.Error("the CRD is still there, although it was not to be kept")
	}
}

func TestTheAPIServerRefusesWrongNetworks(t *testing.T) {
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart)

	for _, test := range []struct{ release, set, want string }{
		{"out-of-bounds", "network.shards=0", "spec.shards"},
		{"contradictory", "network.regions[0].name=local,network.regions[0].nodes=5", "the regions have 5 nodes"},
		{"unknown-field", "network.shardz=1", ".spec.shardz"},
		{"no-quantity", "network.volume.size=big", "spec.volume.size"},
	} {
		t.Run(test.release, func(t *testing.T) {
			_, err := cluster.run("install", test.release, testnetChart, "--set", test.set)
			if err == nil {
				t.Fatal("the network was taken")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one about %s", err, test.want)
			}
			if networks := cluster.installed(t); len(networks) > 0 {
				t.Errorf("the networks are %v, want none", networks)
			}
		})
	}
}
