// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const faultManifest = `
apiVersion: shardyard.dev/v1alpha1
kind: Fault
metadata:
  name: fault
spec:
  networkName: net
  validators: {role: Producer, count: 1}
  action: Pause
  durationSeconds: 30
`

func faults(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(v1alpha1.GroupVersion.WithResource("faults")).Namespace("default")
}

// A fault that is there stays what it is, and a table tells how far it is and why.
func TestFaults(t *testing.T) {
	t.Parallel()
	created, err := faults(t).Create(t.Context(), &unstructured.Unstructured{Object: parse(t, []byte(faultManifest))}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(created.Object["status"]), "map[observedGeneration:-1]"; got != want {
		t.Errorf("a new fault has the status %s, want %s", got, want)
	}
	changed := created.DeepCopy()
	set("spec.durationSeconds", int64(60))(t, changed.Object)
	if _, err := faults(t).Update(t.Context(), changed, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "cannot change: another fault is another Fault") {
		t.Errorf("the error is %v", err)
	}
	condition := func(kind, status, reason string) object {
		return object{"type": kind, "status": status, "reason": reason, "message": "words", "lastTransitionTime": "2026-11-21T02:30:00Z"}
	}
	set("status", object{"phase": "Measured", "conditions": []object{
		condition("Effective", "True", "Felt"), condition("Recovered", "Unknown", "TooFewBlocks"), condition("Ready", "True", "Measured"),
	}})(t, created.Object)
	if _, err := faults(t).UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	table := printed(t, "faults", created.GetName())
	var columns, cells []string
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 && column.Type != "date" {
			columns = append(columns, column.Name)
			cells = append(cells, fmt.Sprint(table.Rows[0].Cells[i]))
		}
	}
	if got, want := strings.Join(columns, ", "), "Name, Network, Action, Phase, Effective, Recovered, Reason"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	want := created.GetName() + ", net, Pause, Measured, True, Unknown, Measured"
	if got := strings.Join(cells, ", "); got != want {
		t.Errorf("cells are %s, want %s", got, want)
	}
}

// The API server takes every sample.
func TestFaultSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "fault", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := admit(t, parse(t, content)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// admit asks the API server whether it takes a fault, and has none made.
func admit(t *testing.T, fault object) error {
	t.Helper()
	_, err := faults(t).Create(t.Context(), &unstructured.Unstructured{Object: fault},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// Of disks, the API server refuses what says too little, or of another action.
func TestWrongFaultsOfDisks(t *testing.T) {
	t.Parallel()
	slow := func(milliseconds int) edit { return set("spec.slowDisk", object{"milliseconds": milliseconds}) }
	action := func(action string) edit { return set("spec.action", action) }
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"without how slow": {[]edit{action("SlowDisk")}, "spec.slowDisk: Invalid value"},
		"of a pause":       {[]edit{slow(40)}, "spec.slowDisk: Invalid value"},
		"of a full disk":   {[]edit{action("FullDisk"), slow(40)}, "spec.slowDisk: Invalid value"},
		"of no time":       {[]edit{action("SlowDisk"), slow(0)}, "spec.slowDisk.milliseconds"},
		"of too much":      {[]edit{action("SlowDisk"), slow(1001)}, "spec.slowDisk.milliseconds"},
		"slow":             {[]edit{action("SlowDisk"), slow(1000)}, ""},
		"full":             {[]edit{action("FullDisk")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := parse(t, []byte(faultManifest))
			fault["metadata"] = object{"name": "disk"}
			for _, change := range test.edits {
				change(t, fault)
			}
			err := admit(t, fault)
			if refused := test.want != ""; refused != apierrors.IsInvalid(err) || refused && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// Of clocks, the API server refuses what says too little, or of another action.
func TestWrongFaultsOfClocks(t *testing.T) {
	t.Parallel()
	off := func(milliseconds int) edit { return set("spec.wrongClock", object{"offsetMilliseconds": milliseconds}) }
	action := func(action string) edit { return set("spec.action", action) }
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"without how wrong": {[]edit{action("WrongClock")}, "spec.wrongClock: Invalid value"},
		"of a pause":        {[]edit{off(40)}, "spec.wrongClock: Invalid value"},
		"right":             {[]edit{action("WrongClock"), off(0)}, "spec.wrongClock.offsetMilliseconds"},
		"too far ahead":     {[]edit{action("WrongClock"), off(60001)}, "spec.wrongClock.offsetMilliseconds"},
		"too far behind":    {[]edit{action("WrongClock"), off(-60001)}, "spec.wrongClock.offsetMilliseconds"},
		"ahead":             {[]edit{action("WrongClock"), off(60000)}, ""},
		"behind":            {[]edit{action("WrongClock"), off(-60000)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := parse(t, []byte(faultManifest))
			fault["metadata"] = object{"name": "clock"}
			for _, change := range test.edits {
				change(t, fault)
			}
			err := admit(t, fault)
			if refused := test.want != ""; refused != apierrors.IsInvalid(err) || refused && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// Of other programs, the API server refuses what says too little, or of another action.
func TestWrongFaultsOfPrograms(t *testing.T) {
	t.Parallel()
	program := func(program object) edit { return set("spec.byzantine", program) }
	action := set("spec.action", "Byzantine")
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"without a program": {[]edit{action}, "spec.byzantine: Invalid value"},
		"of a pause":        {[]edit{program(object{"program": "node"})}, "spec.byzantine: Invalid value"},
		"of nothing":        {[]edit{action, program(object{"program": ""})}, "spec.byzantine.program"},
		"no arguments":      {[]edit{action, program(object{"program": "node", "arguments": []any{}})}, "spec.byzantine.arguments"},
		"a long argument": {
			[]edit{action, program(object{"program": "node", "arguments": []any{strings.Repeat("a", 257)}})}, "spec.byzantine.arguments[0]",
		},
		"a program": {[]edit{action, program(object{"program": "bin/node", "arguments": []any{"--planted-fault", "CreditedTwice"}})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := parse(t, []byte(faultManifest))
			fault["metadata"] = object{"name": "program"}
			for _, change := range test.edits {
				change(t, fault)
			}
			err := admit(t, fault)
			if refused := test.want != ""; refused != apierrors.IsInvalid(err) || refused && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
