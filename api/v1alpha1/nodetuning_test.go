// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// tuningManifest sets every setting of a NodeTuning.
const tuningManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: NodeTuning
metadata:
  name: tuning
spec:
  nodeSelector:
    node.kubernetes.io/instance-type: c4d-highmem-16
  tolerations:
    - key: shardyard.dev/machine-type
      operator: Exists
  settings:
    allowedCongestionControls: [reno, cubic, bbr]
    congestionControl: bbr
    defaultQdisc: fq
    interfaceQdisc: fq_codel
    netdevMaxBacklogPackets: 30000
    rmemMaxBytes: 2147483647
    wmemMaxBytes: 134217728
    tcpMaxSynBacklog: 8096
    tcpMetricsSave: Disabled
    tcpMTUProbing: AfterBlackHole
    tcpRmem: {minBytes: 10240, defaultBytes: 87380, maxBytes: 134217728}
    tcpSlowStartAfterIdle: Disabled
    tcpWmem: {minBytes: 4096, defaultBytes: 4096, maxBytes: 4096}
`

// createTuning makes a NodeTuning for the time of the test.
func createTuning(t *testing.T, manifest object) (*unstructured.Unstructured, error) {
	t.Helper()
	client, err := dynamic.NewForConfig(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	tunings := client.Resource(v1alpha1.GroupVersion.WithResource("nodetunings"))
	created, err := tunings.Create(t.Context(), &unstructured.Unstructured{Object: manifest},
		metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		t.Cleanup(func() {
			if err := tunings.Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Errorf("clean up: %v", err)
			}
		})
	}
	return created, err
}

func TestValidTunings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "nodetuning", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	manifests := [][]byte{[]byte(tuningManifest)}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, content)
	}
	for _, content := range manifests {
		created, err := createTuning(t, parse(t, content))
		if err != nil {
			t.Error(err)
			continue
		}
		// What waits for a tuning compares the generations: the first one is 1.
		if got, _, _ := unstructured.NestedInt64(created.Object, "status", "observedGeneration"); got != -1 {
			t.Errorf("%s is new, and its status is as of generation %d", created.GetName(), got)
		}
	}
}

// The preset's tuning is the sample's.
func TestTheTuningOfThePreset(t *testing.T) {
	t.Parallel()
	read := func(path ...string) object {
		content, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, content)
	}
	preset := read("charts", "testnet", "tunings", "near-1m-70-shards.yaml")
	sample := read("config", "samples", "nodetuning", "high-throughput.yaml")["spec"]
	got, want := string(encode(t, preset)), string(encode(t, sample.(object)))
	if got != want {
		t.Errorf("the preset has\n%s, and the sample\n%s", got, want)
	}
}

func TestWrongTuningsAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edits []edit
		want  []refusal
	}{
		"no settings": {
			[]edit{set("spec.settings", object{})},
			[]refusal{{"spec.settings", "should have at least 1 properties"}},
		},
		"unknown setting": {
			[]edit{set("spec.settings.rmemMax", 1)},
			[]refusal{{"spec.settings.rmemMax", "unknown field"}},
		},
		"toleration of an unknown operator": {
			[]edit{set("spec.tolerations", []object{{"key": "a", "operator": "In"}})},
			[]refusal{{"spec.tolerations[0].operator", `Unsupported value: "In"`}, notChecked},
		},
		"toleration of an unknown effect": {
			[]edit{set("spec.tolerations", []object{{"key": "a", "operator": "Exists", "effect": "NoStart"}})},
			[]refusal{{"spec.tolerations[0].effect", `Unsupported value: "NoStart"`}, notChecked},
		},
		"toleration of a value whatever it is": {
			[]edit{set("spec.tolerations", []object{{"key": "a", "operator": "Exists", "value": "b"}})},
			[]refusal{{"spec.tolerations[0].value", "must not be set where operator is Exists"}},
		},
		"unknown qdisc": {
			[]edit{set("spec.settings.interfaceQdisc", "netem")},
			[]refusal{{"spec.settings.interfaceQdisc", `supported values: "fq", "fq_codel", "htb", "pfifo_fast"`}, notChecked},
		},
		"no backlog": {
			[]edit{set("spec.settings.netdevMaxBacklogPackets", 0)},
			[]refusal{{"spec.settings.netdevMaxBacklogPackets", "should be greater than or equal to 1"}},
		},
		"windows of routes, which pods have for themselves": {
			[]edit{set("spec.settings.initialCongestionWindowSegments", 255)},
			[]refusal{{"spec.settings.initialCongestionWindowSegments", "unknown field"}},
		},
		"buffer of 2 GiB": {
			[]edit{set("spec.settings.rmemMaxBytes", 2147483648)},
			[]refusal{
				{"<nil>", "must be of type integer with format int32 in spec.settings.rmemMaxBytes"},
				{"spec.settings.rmemMaxBytes", "should be less than or equal to 2147483647"},
			},
		},
		"congestion control that is not allowed": {
			[]edit{set("spec.settings.allowedCongestionControls", []string{"reno", "cubic"})},
			[]refusal{{"spec.settings.congestionControl", "must be one of allowedCongestionControls"}},
		},
		"congestion control without a list": {
			[]edit{remove("spec.settings.allowedCongestionControls")},
			[]refusal{{"spec.settings.congestionControl", "must be one of allowedCongestionControls"}},
		},
		"sizes out of order": {
			[]edit{set("spec.settings.tcpRmem.defaultBytes", 8192)},
			[]refusal{{"spec.settings.tcpRmem", "must hold minBytes <= defaultBytes <= maxBytes"}},
		},
		"sizes left out": {
			[]edit{remove("spec.settings.tcpWmem.maxBytes")},
			[]refusal{{"spec.settings.tcpWmem.maxBytes", "Required value"}, notChecked},
		},
		"name with a dot": {
			[]edit{set("metadata.name", "my.tuning")},
			[]refusal{{"metadata", "metadata.name must be a DNS label"}},
		},
		"name of 64 characters": {
			[]edit{set("metadata.name", strings.Repeat("n", 64))},
			[]refusal{{"metadata", "metadata.name must be a DNS label"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := parse(t, []byte(tuningManifest))
			for _, edit := range test.edits {
				edit(t, wrong)
			}
			_, err := createTuning(t, wrong)
			got := refusalsOfServer(t, err)
			checkRefusals(t, got, got, test.want)
		})
	}
}

func TestTuningNamesAreThoseOfPlacements(t *testing.T) {
	t.Parallel()
	network := edited(t, named(t), set("spec.placement.nodeTuning", "My.tuning"))
	_, err := create(t, network)
	got := refusalsOfServer(t, err)
	checkRefusals(t, got, got, []refusal{{"spec.placement.nodeTuning", "should match"}})
}
