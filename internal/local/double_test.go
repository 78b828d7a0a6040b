// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/scripts"
	"github.com/shardyard/shardyard/test/waiting"
)

const doubled = "net-s1-p0"

// byzantine is a fault of one stand-in, in whose place a program is run.
func byzantine(t *testing.T, program string, seconds int) *v1alpha1.Fault {
	t.Helper()
	return readFault(t, "action: Pause", "action: Byzantine\n  byzantine:\n    program: "+program,
		"durationSeconds: 5", fmt.Sprintf("durationSeconds: %d", seconds))
}

// runByzantine has the fault happen to a network that goes on afterwards, and says how
// the fault reached the validator.
func runByzantine(t *testing.T, program string, seconds int) v1alpha1.FaultReach {
	t.Helper()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	wanted := byzantine(t, program, seconds)
	var progress output.Buffer
	if err := RunFault(t.Context(), stateDir, wanted, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	run.says(t, "the fault of validator "+doubled+" is over")
	if !meta.IsStatusConditionTrue(wanted.Status.Conditions, v1alpha1.ConditionRecovered) {
		t.Errorf("says %+v, want that it recovered", wanted.Status)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Errorf("the run ends with %v", err)
	}
	return wanted.Status.Validators[0].Reached
}

// Another build is told from the one before, and that its state is another one than
// the chain's is its own affair.
func TestADoubleThatContradicts(t *testing.T) {
	t.Parallel()
	program := standinProgram(t, map[string]misbehaviour{doubled: {Version: "another", StateRoot: "another"}})
	if reached := runByzantine(t, program, 5); reached != v1alpha1.FaultImpaired {
		t.Errorf("the validator is %s", reached)
	}
}

// The node program itself is no fault, though its validator was started anew.
func TestADoubleThatIsTheNode(t *testing.T) {
	t.Parallel()
	// On a busy machine it may be silent for some seconds when it starts.
	if reached := runByzantine(t, standinProgram(t, nil), 15); reached != v1alpha1.FaultNotReached {
		t.Errorf("the validator is %s", reached)
	}
}

// A program that ends again and again leaves its validator silent, and the network up.
func TestADoubleThatEnds(t *testing.T) {
	t.Parallel()
	program := standinProgram(t, map[string]misbehaviour{doubled: {ExitCode: 2}})
	if reached := runByzantine(t, program, 5); reached != v1alpha1.FaultUnreachable {
		t.Errorf("the validator is %s", reached)
	}
}

// A double has a copy of the validator's data, and nothing of what it makes of it stays.
func TestTheDataOfADouble(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "ready after ")
	dir := run.dir.Node(doubled)
	noted := filepath.Join(dir.Data(), "noted")
	if err := os.WriteFile(noted, []byte("by the validator"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "double")
	script := `#!/bin/sh
[ "$1 $2 $3" = "--fault run --config" ] || exit 1
cd "$(dirname "$4")" && grep -q '"dataDir": *"double"' double.json || exit 1
cat double/noted >double/seen && echo spoilt >double/noted && exec sleep 3600
`
	scripts.Write(t, program, script)
	keeper := newKeeper(run.dir)
	given := supervision.Order{
		Validators: []string{doubled}, Action: v1alpha1.FaultActionByzantine, DurationMilliseconds: time.Hour.Milliseconds(),
		Program: &fault.Program{Path: program, Arguments: []string{"--fault"}},
	}
	if err := keeper.order(t.Context(), strikePath, &given); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir.DoubleData(), "noted")
	waiting.Until(t, "the double has spoilt its data", func() bool { return holds(copied, "spoilt") })
	if !holds(filepath.Join(dir.DoubleData(), "seen"), "by the validator") {
		t.Error("the double had no copy of the validator's data")
	}
	if err := keeper.Lift(t.Context(), given.Validators); err != nil {
		t.Fatal(err)
	}
	run.says(t, "validator "+doubled+" is ready again")
	if !holds(noted, "by the validator") {
		t.Error("the validator's data is spoilt")
	}
	for _, path := range []string{dir.DoubleData(), dir.DoubleConfig()} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// holds says whether a file is there and has a line.
func holds(path, line string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(content)) == line
}

// What cannot be run keeps no validator away.
func TestNoDouble(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	var progress output.Buffer
	err := RunFault(t.Context(), stateDir, byzantine(t, filepath.Join(stateDir, "nothing"), 5), &progress)
	if err == nil || !strings.Contains(err.Error(), "spec.byzantine.program: ") {
		t.Errorf("the error is %v", err)
	}
	given := supervision.Order{
		Validators: []string{doubled}, Action: v1alpha1.FaultActionByzantine, DurationMilliseconds: time.Hour.Milliseconds(),
	}
	keeper := newKeeper(run.dir)
	if err := keeper.order(t.Context(), strikePath, &given); err == nil || err.Error() != "a byzantine fault has no program" {
		t.Errorf("the error is %v", err)
	}
	given.Program = &fault.Program{Path: filepath.Join(stateDir, "nothing")}
	if err := keeper.order(t.Context(), strikePath, &given); err != nil {
		t.Fatal(err)
	}
	run.says(t, "nothing can take the place of validator "+doubled+": ")
	run.says(t, "the fault of validator "+doubled+" is over")
	run.says(t, "validator "+doubled+" is ready again")
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}
