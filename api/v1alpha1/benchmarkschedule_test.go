// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// scheduleManifest sets every field of a BenchmarkSchedule, but those of the
// benchmark that have tests of their own.
const scheduleManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: BenchmarkSchedule
metadata:
  name: nightly
spec:
  schedule: 30 2 * * MON-FRI
  timeZone: Europe/Berlin
  state: Suspended
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 600
  successfulHistoryLimit: 0
  failedHistoryLimit: 7
  template:
    metadata:
      labels:
        example.com/team: protocol
      annotations:
        example.com/why: to see it first
    spec:
      network:
        template:
          spec:
            shards: 2
            producersPerShard: 1
            regions:
              - name: north
                nodes: 2
            genesis:
              accountsPerShard: 1000
      load:
        profile: Ramp
        ramp:
          steps:
            - transfersPerSecond: 100
              durationSeconds: 5
      durationSeconds: 30
`

func editedSchedule(t *testing.T, edits ...edit) object {
	t.Helper()
	edited := parse(t, []byte(scheduleManifest))
	sum := sha256.Sum256([]byte(t.Name()))
	for _, edit := range append([]edit{set("metadata.name", fmt.Sprintf("sched-%x", sum[:8]))}, edits...) {
		edit(t, edited)
	}
	return edited
}

func schedules(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(v1alpha1.GroupVersion.WithResource("benchmarkschedules")).Namespace("default")
}

// createSchedule makes a BenchmarkSchedule for the time of the test.
func createSchedule(t *testing.T, manifest object) (*unstructured.Unstructured, error) {
	t.Helper()
	created, err := schedules(t).Create(t.Context(), &unstructured.Unstructured{Object: manifest},
		metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		t.Cleanup(func() {
			if err := schedules(t).Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Errorf("clean up: %v", err)
			}
		})
	}
	return created, err
}

// What is accepted means the same everywhere: the API server and package
// manifest fill in the same defaults.
func TestValidBenchmarkSchedules(t *testing.T) {
	t.Parallel()
	manifests := [][]byte{
		[]byte(scheduleManifest),
		encode(t, editedSchedule(t, remove("spec.template.spec.network.template.spec.regions"))),
		encode(t, editedSchedule(t, set("metadata.name", "of-a-network"), set("spec.template.spec.network", object{"name": "running"}))),
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "benchmarkschedule", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, content)
	}
	for i, schedule := range []string{
		"@daily", "@annually", "* * * * *", "*/5 0-23/2 1,15 jan,Mar-DEC 0-6", "59 23 31 12 6", "00 09 09 09 0", "? ? ? ? ?",
	} {
		manifests = append(manifests, encode(t, editedSchedule(t, set("metadata.name", fmt.Sprint("valid-", i)), set("spec.schedule", schedule))))
	}
	for i, zone := range []string{"Etc/UTC", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+12", "America/Port-au-Prince"} {
		manifests = append(manifests, encode(t, editedSchedule(t, set("metadata.name", fmt.Sprint("zone-", i)), set("spec.timeZone", zone))))
	}
	for _, content := range manifests {
		read, err := manifest.ParseBenchmarkSchedule(content)
		if err != nil {
			t.Error(err)
			continue
		}
		created, err := createSchedule(t, parse(t, content))
		if err != nil {
			t.Error(err)
			continue
		}
		var stored v1alpha1.BenchmarkSchedule
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, &stored); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read.Spec, stored.Spec) {
			t.Errorf("package manifest reads\n%+v\nbut the API server stores\n%+v", read.Spec, stored.Spec)
		}
	}
}

func TestWrongBenchmarkSchedulesAreRefused(t *testing.T) {
	t.Parallel()
	at := func(schedule string) []edit { return []edit{set("spec.schedule", schedule)} }
	cases := map[string]struct {
		edits []edit
		want  []refusal
	}{
		"no schedule":         {[]edit{remove("spec.schedule")}, []refusal{{"spec.schedule", "Required value"}, notChecked}},
		"four fields":         {at("1 2 3 4"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"seconds":             {at("0 0 2 * * *"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"two spaces":          {at("0  2 * * *"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"a macro of nobody":   {at("@fortnightly"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"a period":            {at("@every 2h"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"a zone of its own":   {at("TZ=Europe/Berlin 0 2 * * *"), []refusal{{"spec.schedule", "must have the five fields"}}},
		"a zone as a minute":  {at("TZ=UTC 2 * * *"), []refusal{{"spec.schedule", "the first field, minutes"}}},
		"minute 60":           {at("60 * * * *"), []refusal{{"spec.schedule", "the first field, minutes"}}},
		"minutes in one":      {at("599 * * * *"), []refusal{{"spec.schedule", "the first field, minutes"}}},
		"an end of no list":   {at("1, * * * *"), []refusal{{"spec.schedule", "the first field, minutes"}}},
		"a step of nothing":   {at("*/0 * * * *"), []refusal{{"spec.schedule", "the first field, minutes"}}},
		"hour 24":             {at("0 24 * * *"), []refusal{{"spec.schedule", "the second field, hours"}}},
		"day 0":               {at("0 0 0 * *"), []refusal{{"spec.schedule", "the third field, days of the month"}}},
		"month 13":            {at("0 0 1 13 *"), []refusal{{"spec.schedule", "the fourth field, months"}}},
		"a month of nobody":   {at("0 0 1 brumaire *"), []refusal{{"spec.schedule", "the fourth field, months"}}},
		"day of the week 7":   {at("0 0 * * 7"), []refusal{{"spec.schedule", "the fifth field, days of the week"}}},
		"no zone":             {[]edit{set("spec.timeZone", "")}, []refusal{{"spec.timeZone", "must be the name"}}},
		"the operator's zone": {[]edit{set("spec.timeZone", "Local")}, []refusal{{"spec.timeZone", "must be the name"}}},
		"a zone of a file":    {[]edit{set("spec.timeZone", "../../etc/passwd")}, []refusal{{"spec.timeZone", "must be the name"}}},
		"a switch":            {[]edit{set("spec.state", "Paused")}, []refusal{{"spec.state", "Unsupported value"}, notChecked}},
		"two at a time": {
			[]edit{set("spec.concurrencyPolicy", "Allow")}, []refusal{{"spec.concurrencyPolicy", "Unsupported value"}, notChecked},
		},
		"no time to start":     {[]edit{set("spec.startingDeadlineSeconds", 9)}, []refusal{{"spec.startingDeadlineSeconds", "or equal to 10"}}},
		"too many to keep":     {[]edit{set("spec.failedHistoryLimit", 33)}, []refusal{{"spec.failedHistoryLimit", "or equal to 32"}}},
		"fewer than none kept": {[]edit{set("spec.successfulHistoryLimit", -1)}, []refusal{{"spec.successfulHistoryLimit", "or equal to 0"}}},
		"a label of the operator": {
			[]edit{set("spec.template.metadata.labels", object{"shardyard.dev/run": "1"})},
			[]refusal{{"spec.template.metadata.labels", "these are the operator's"}},
		},
		"a label with a space": {
			[]edit{set("spec.template.metadata.labels", object{"team": "the protocol"})},
			[]refusal{{"spec.template.metadata.labels", "must be labels"}},
		},
		"an annotation with a space": {
			[]edit{set("spec.template.metadata.annotations", object{"the team": "protocol"})},
			[]refusal{{"spec.template.metadata.annotations", "must have qualified names"}},
		},
		"a name of the benchmark": {
			[]edit{set("spec.template.metadata.name", "mine")}, []refusal{{"spec.template.metadata.name", "unknown field"}},
		},
		"a benchmark that is none": {
			[]edit{set("spec.template.spec.durationSeconds", 4)},
			[]refusal{{"spec.template.spec.durationSeconds", "greater than or equal to 5"}},
		},
		"a benchmark of no quantity": {
			[]edit{
				set("spec.template.spec.criteria", []object{{"figure": "CPUCores", "atLeast": "1e1.5"}}),
				set("spec.template.spec.network.template.spec.volume", object{"size": "1e4000000"}),
			},
			[]refusal{
				{"spec.template.spec.criteria[0].atLeast", "should match"},
				{"spec.template.spec.network.template.spec.volume.size", "should match"},
			},
		},
		"nothing to compare with": {
			[]edit{set("spec.template.spec.baseline", object{"figures": []string{"ExecutedPerSecond"}})},
			[]refusal{{"spec.successfulHistoryLimit", "must be at least 1: each benchmark is compared with the latest"}},
		},
		"a region elsewhere": {
			[]edit{set("spec.template.spec.network.template.spec.regions", []object{{"name": "north", "nodes": 2, "cluster": "east"}})},
			[]refusal{{"spec.template.spec.network.template.spec.regions", "must all be in the operator's own cluster"}},
		},
		"a name that is too long": {
			[]edit{set("metadata.name", strings.Repeat("n", 32))},
			[]refusal{{"metadata", "metadata.name must be at most 31 characters"}},
		},
		"a name that begins with a digit": {
			[]edit{set("metadata.name", "4-shards")}, []refusal{{"metadata", "metadata.name must be a DNS label"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := editedSchedule(t, test.edits...)
			_, byReader := manifest.ParseBenchmarkSchedule(encode(t, wrong))
			_, byServer := createSchedule(t, wrong)
			checkRefusals(t, refusalsOfServer(t, byServer), refusalsOfReader(t, byReader), test.want)
		})
	}
}

// All but the experiment may change.
func TestWhatChangesOfABenchmarkSchedule(t *testing.T) {
	t.Parallel()
	created, err := createSchedule(t, editedSchedule(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []edit{
		set("spec.schedule", "@daily"), set("spec.timeZone", "Etc/UTC"), set("spec.state", "Enabled"),
		set("spec.startingDeadlineSeconds", 60), set("spec.failedHistoryLimit", 1), set("spec.successfulHistoryLimit", 1),
		set("spec.template.metadata.labels", object{"team": "network"}),
	} {
		edit(t, created.Object)
	}
	updated, err := schedules(t).Update(t.Context(), created, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set("spec.template.spec.durationSeconds", 31)(t, updated.Object)
	_, err = schedules(t).Update(t.Context(), updated, metav1.UpdateOptions{})
	got := refusalsOfServer(t, err)
	checkRefusals(t, got, got, []refusal{{"spec.template.spec", "another experiment is another BenchmarkSchedule"}})
}

// The columns of kubectl get say when, whether, and what it came to.
func TestPrinterColumnsOfABenchmarkSchedule(t *testing.T) {
	t.Parallel()
	created, err := createSchedule(t, editedSchedule(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(created.Object["status"]), "map[observedGeneration:-1]"; got != want {
		t.Errorf("a new schedule has the status %s, want %s", got, want)
	}
	set("status", object{
		"active":           object{"name": "nightly-29916000", "uid": "1", "scheduleTime": "2026-11-21T02:30:00Z"},
		"lastScheduleTime": "2026-11-21T02:30:00Z",
		"lastResult": object{
			"name": "nightly-29914560", "scheduleTime": "2026-11-20T02:30:00Z", "phase": "Regressed", "transfersPerSecond": 1999,
		},
	})(t, created.Object)
	if _, err := schedules(t).UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	table := printed(t, "benchmarkschedules", created.GetName())
	var columns, cells []string
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 && column.Type != "date" {
			columns = append(columns, column.Name)
			cells = append(cells, fmt.Sprint(table.Rows[0].Cells[i]))
		}
	}
	if got, want := strings.Join(columns, ", "), "Name, Schedule, State, Active, Last-result, TPS"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	want := created.GetName() + ", 30 2 * * MON-FRI, Suspended, nightly-29916000, Regressed, 1999"
	if got := strings.Join(cells, ", "); got != want {
		t.Errorf("cells are %s, want %s", got, want)
	}
}
