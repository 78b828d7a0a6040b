// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
)

// listPresets are the names of the files of presets.
func listPresets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(testnetChart + "/presets/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no presets")
	}
	presets := make([]string, 0, len(files))
	for _, file := range files {
		presets = append(presets, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return presets
}

// renderNetwork renders the testnet chart and reads what comes out as an API
// server would.
func renderNetwork(t *testing.T, arguments ...string) *v1alpha1.ShardNetwork {
	t.Helper()
	// What helm test runs is no part of what is installed.
	network, err := manifest.Parse(render(t, testnetChart, append([]string{"--skip-tests"}, arguments...)...))
	if err != nil {
		t.Fatal(err)
	}
	return network
}

func TestEveryPresetIsANetwork(t *testing.T) {
	for _, preset := range listPresets(t) {
		t.Run(preset, func(t *testing.T) {
			network := renderNetwork(t, "--set", "preset="+preset)
			plan, err := topology.New(network)
			if err != nil {
				t.Fatal(err)
			}
			spec := &network.Spec
			if want := int(spec.Shards*spec.ProducersPerShard + spec.ChunkValidators + spec.ArchiveNodes); len(plan.Nodes) != want {
				t.Errorf("the plan has %d nodes, want %d", len(plan.Nodes), want)
			}
		})
	}
}

func TestPresetsAreTheSamplesOfTheirName(t *testing.T) {
	files, err := filepath.Glob(samples + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no samples")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			sample, err := manifest.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if preset := renderNetwork(t, "--set", "preset="+name); !reflect.DeepEqual(preset.Spec, sample.Spec) {
				t.Errorf("the preset is %+v,\nthe sample is %+v", preset.Spec, sample.Spec)
			}
		})
	}
}

// What is measured on a schedule is the network of a preset, but for how long leaders
// wait for chunks, which a controller of the load needs, and for disks that go with it.
func TestScheduledNetworksAreThoseOfPresets(t *testing.T) {
	for schedule, preset := range map[string]string{
		"near-4-shards-nightly": "near-4-shards", "near-20-shards-weekly": "near-20-shards",
	} {
		t.Run(schedule, func(t *testing.T) {
			read, err := manifest.ReadBenchmarkSchedule(samples + "/benchmarkschedule/" + schedule + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			got, want := &read.Spec.Template.Spec.Network.Template.Spec, &renderNetwork(t, "--set", "preset="+preset).Spec
			if got.Volume.Retention != v1alpha1.VolumeRetentionDelete || got.Protocol.ChunkWaitMilliseconds != 30_000 {
				t.Errorf("the disks are kept by %s, and leaders wait for %d ms", got.Volume.Retention, got.Protocol.ChunkWaitMilliseconds)
			}
			want.Load, want.Volume.Retention, want.Protocol.ChunkWaitMilliseconds = nil, v1alpha1.VolumeRetentionDelete, 30_000
			if !equality.Semantic.DeepEqual(got, want) {
				t.Errorf("the network of the schedule is %+v,\nthe preset is %+v", got, want)
			}
		})
	}
}

func TestTheSchemaNamesEveryPreset(t *testing.T) {
	content, err := os.ReadFile(testnetChart + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Preset struct {
				Enum []string `json:"enum"`
			} `json:"preset"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	named := slices.Sorted(slices.Values(schema.Properties.Preset.Enum))
	if presets := listPresets(t); !slices.Equal(named, presets) {
		t.Errorf("the schema names %v, the files are %v", named, presets)
	}
}

func TestTheUsersFieldsWin(t *testing.T) {
	values := writeValues(t, `
preset: near-1m-70-shards
network:
  shards: 3
  producersPerShard: 1
  # A list replaces the preset's.
  regions:
    - name: somewhere
      nodes: 3
  # An object is merged: the others stay.
  protocol:
    maxTransactionsPerChunk: 1000
  # An empty value is a value.
  node:
    features:
      signatureBatchSize: 0
  # null removes.
  volume: null
  load:
    ramp:
      steps:
        - transfersPerSecond: 0
          durationSeconds: 1
`)
	spec := renderNetwork(t, "--values", values).Spec

	if want := []v1alpha1.Region{{Name: "somewhere", Nodes: 3}}; !slices.Equal(spec.Regions, want) {
		t.Errorf("regions are %v, want %v", spec.Regions, want)
	}
	want := v1alpha1.ProtocolSpec{
		ExecutionLag:             1,
		MinBlockTimeMilliseconds: 600,
		ChunkWaitMilliseconds:    1000,
		MaxTransactionsPerChunk:  1000,
		MandatesPerShard:         6,
		EpochLengthBlocks:        43_200,
		CongestionControl:        v1alpha1.SwitchEnabled,
		TransferFee:              ptr.To[int64](0),
		LeastBalance:             ptr.To[int64](0),
	}
	if !equality.Semantic.DeepEqual(spec.Protocol, want) {
		t.Errorf("protocol is %+v, want %+v", spec.Protocol, want)
	}
	if spec.Volume != nil {
		t.Errorf("volume is %+v, want none", *spec.Volume)
	}
	if steps := spec.Load.Ramp.Steps; len(steps) != 1 || *steps[0].TransfersPerSecond != 0 {
		t.Errorf("load has the steps %+v, want one of 0 transfers per second", steps)
	}
	if spec.Genesis.AccountsPerShard != 14286 {
		t.Errorf("accountsPerShard is %d, want the preset's 14286", spec.Genesis.AccountsPerShard)
	}
}

func TestFieldsOfTheCommandLineWin(t *testing.T) {
	network := renderNetwork(t,
		"--set", "preset=near-4-shards", "--set", "name=mine",
		"--set", "network.placement.exclusivity=Shared", "--set", "network.placement.machineType=null",
		"--set", "network.protocol.minBlockTimeMilliseconds=100")

	if network.Name != "mine" {
		t.Errorf("the network's name is %q, want mine", network.Name)
	}
	want := v1alpha1.PlacementSpec{Exclusivity: v1alpha1.Shared, RegionAffinity: v1alpha1.RegionRequired}
	if !reflect.DeepEqual(network.Spec.Placement, want) {
		t.Errorf("placement is %+v, want %+v", network.Spec.Placement, want)
	}
	if got := network.Spec.Protocol.MinBlockTimeMilliseconds; got != 100 {
		t.Errorf("minBlockTimeMilliseconds is %d, want 100", got)
	}
}
