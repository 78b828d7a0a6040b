// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// pauseFault is a fault of one stand-in. The chain of stand-ins goes by the clock, so
// it feels none.
const pauseFault = `
apiVersion: shardyard.dev/v1alpha1
kind: Fault
metadata:
  name: fault
spec:
  networkName: net
  validators:
    names: [net-s1-p0]
  action: Pause
  durationSeconds: 5
  baselineSeconds: 5
`

func readFault(t *testing.T, replacements ...string) *v1alpha1.Fault {
	t.Helper()
	read, err := manifest.ParseFault([]byte(strings.NewReplacer(replacements...).Replace(pauseFault)))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// state is that of a process in /proc: T is stopped; 0 there is none.
func state(pid int) byte {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return state[0]
}

// A fault of any kind that the validators show and the chain does not feel is without
// effect, and says so.
func TestFaultsThatAreNotFelt(t *testing.T) {
	t.Parallel()
	const (
		ofProcess = "the fault of validator net-s1-p0 is over"
		ofLinks   = "the fault of the links of net-s1-p0 is over"
		ofDisk    = "the fault of the disk of net-s1-p0 is over"
		ofClock   = "the fault of the clock of net-s1-p0 is over"
	)
	unreachable, impaired := []v1alpha1.FaultReach{v1alpha1.FaultUnreachable}, []v1alpha1.FaultReach{v1alpha1.FaultImpaired}
	// On a busy machine, one that is killed may be back only after the time that is measured;
	// one with a full disk ends it by its own clock, and may be back before.
	away := []v1alpha1.FaultReach{v1alpha1.FaultUnreachable, v1alpha1.FaultRestarted}
	another := standinProgram(t, map[string]misbehaviour{"net-s1-p0": {Version: "another"}})
	for name, test := range map[string]struct {
		action  string
		reached []v1alpha1.FaultReach
		over    string
	}{
		"Pause":      {"action: Pause", unreachable, ofProcess},
		"Kill":       {"action: Kill\n  kill:\n    restart: AfterDuration", unreachable, ofProcess},
		"KillAtOnce": {"action: Kill\n  kill:\n    restart: AtOnce", away, "validator net-s1-p0 is ready again"},
		"Byzantine":  {"action: Byzantine\n  byzantine:\n    program: " + another, impaired, ofProcess},
		"Partition":  {"action: Partition", impaired, ofLinks},
		"Delay":      {"action: Delay\n  delay:\n    milliseconds: 1", impaired, ofLinks},
		"Loss":       {"action: Loss\n  loss:\n    basisPoints: 5000", impaired, ofLinks},
		"FullDisk":   {"action: FullDisk", away, ofDisk},
		"SlowDisk":   {"action: SlowDisk\n  slowDisk:\n    milliseconds: 1", impaired, ofDisk},
		"WrongClock": {"action: WrongClock\n  wrongClock:\n    offsetMilliseconds: -1", impaired, ofClock},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := readFault(t, "action: Pause", test.action)
			stateDir := t.TempDir()
			run := startUp(t, stateDir, Options{}, nil)
			run.says(t, "ready after ")
			var progress output.Buffer
			if err := RunFault(t.Context(), stateDir, wanted, &progress); err != nil {
				t.Fatalf("%v\n%s", err, &progress)
			}
			status := &wanted.Status
			effective := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionEffective)
			if effective == nil || effective.Status != "False" || effective.Reason != v1alpha1.ReasonNotFelt {
				t.Errorf("says %+v, want that the chain did not feel it", status)
			}
			if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered) || status.RecoveryMilliseconds == nil {
				t.Errorf("says %+v, want that it recovered", status)
			}
			checkReached(t, wanted, test.reached)
			if len(status.Windows) != 3 || status.Windows[1].Blocks < 20 || status.EndTime.Sub(status.StartTime.Time) < 4*time.Second {
				t.Errorf("measured is %+v", status)
			}
			run.says(t, test.over)
			// Nothing keeps one from being back that is killed and started at once.
			if kept := strings.Contains(run.progress.String(), ofProcess); kept != (test.over == ofProcess) {
				t.Errorf("it says that a fault of the process is over: %t", kept)
			}
			run.interrupt()
			if _, err := run.end(t); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkReached checks what the validator shows of a fault.
func checkReached(t *testing.T, made *v1alpha1.Fault, reached []v1alpha1.FaultReach) {
	t.Helper()
	validators := made.Status.Validators
	if len(validators) != 1 || validators[0].Name != "net-s1-p0" || !slices.Contains(reached, validators[0].Reached) {
		t.Fatalf("of the validators it says %+v", validators)
	}
	if seen := validators[0]; made.Spec.Action == v1alpha1.FaultActionFullDisk && 2*seen.Answered > seen.Asked {
		t.Errorf("it answered %d of %d times with a full disk", seen.Answered, seen.Asked)
	}
}

// idle is an actor that does nothing.
type idle struct{}

func (idle) Strike(context.Context, []string, *v1alpha1.FaultSpec, []fault.Order) error {
	return nil
}

func (idle) Lift(context.Context, []string) error { return nil }

// A fault that did not happen says so, whoever claims that it did.
func TestFaultThatDoesNothing(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "ready after ")
	network, err := manifest.Read(run.dir.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	for _, validator := range run.processes(t).Validators {
		addresses[validator.Name] = validator.HTTP
	}
	status, err := faulting.Run(t.Context(), &faulting.Options{
		Spec: &readFault(t).Spec, Plan: plan, Scope: plan.Nodes[:1], Actor: idle{},
		Address:  func(name string) string { return addresses[name] },
		Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	effective := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionEffective)
	if effective == nil || effective.Status != metav1.ConditionFalse || effective.Reason != v1alpha1.ReasonNotReached {
		t.Errorf("says %+v, want that the fault did not reach its validator", status)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// A fault ends by itself when nobody ends it.
func TestFaultsEnd(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "ready after ")
	pid := run.pid(t, "net-s0-p0")
	pause := supervision.Order{Validators: []string{"net-s0-p0"}, Action: v1alpha1.FaultActionPause, DurationMilliseconds: 300}
	if err := newKeeper(run.dir).order(t.Context(), strikePath, &pause); err != nil {
		t.Fatal(err)
	}
	run.says(t, "validator net-s0-p0 is paused by a fault")
	run.says(t, "the fault of validator net-s0-p0 is over")
	waiting.Until(t, "net-s0-p0 goes on", func() bool { return state(pid) == 'S' })

	down := supervision.Order{
		Validators: []string{"net-s1-p0"}, Action: v1alpha1.FaultActionKill, Restart: v1alpha1.FaultRestartAfterDuration,
		DurationMilliseconds: time.Hour.Milliseconds(),
	}
	if err := newKeeper(run.dir).order(t.Context(), strikePath, &down); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, "net-s1-p0 ends", func() bool { return run.pid(t, "net-s1-p0") == 0 })
	err := newKeeper(run.dir).order(t.Context(), strikePath, &down)
	if err == nil || err.Error() != "validator net-s1-p0 does not run" {
		t.Errorf("the error of a fault of nobody is %v", err)
	}
	if err := newKeeper(run.dir).Lift(t.Context(), down.Validators); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, "net-s1-p0 is started again", func() bool { return run.pid(t, "net-s1-p0") != 0 })
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// An order is for all of its validators or for none, and a fault does not keep a
// network from stopping.
func TestFaultsThatAreRefused(t *testing.T) {
	t.Parallel()
	run := startUp(t, t.TempDir(), Options{}, nil)
	run.says(t, "ready after ")
	strike := func(ordered supervision.Order) error {
		return newKeeper(run.dir).order(t.Context(), strikePath, &ordered)
	}
	first, second := run.pid(t, "net-s0-p0"), run.pid(t, "net-s0-p1")
	pause := supervision.Order{
		Validators: []string{"net-s0-p0"}, Action: v1alpha1.FaultActionPause, DurationMilliseconds: time.Hour.Milliseconds(),
	}
	if err := strike(pause); err != nil {
		t.Fatal(err)
	}
	both := pause
	both.Validators = []string{"net-s0-p1", "net-s0-p0"}
	for _, wrong := range []struct {
		order supervision.Order
		want  string
	}{
		{both, "validator net-s0-p0 has a fault already"},
		{
			supervision.Order{Validators: []string{"net-s9-p0"}, Action: v1alpha1.FaultActionPause, DurationMilliseconds: 1},
			"there is no validator net-s9-p0",
		},
		{supervision.Order{Validators: []string{"net-s1-p1"}, Action: v1alpha1.FaultActionPause}, "the duration of a fault must be positive"},
		{supervision.Order{Validators: []string{"net-s1-p1"}, Action: "Bribe", DurationMilliseconds: 1}, `unknown action "Bribe"`},
	} {
		if err := strike(wrong.order); err == nil || err.Error() != wrong.want {
			t.Errorf("the error of %+v is %v, want %s", wrong.order, err, wrong.want)
		}
	}
	waiting.Until(t, "net-s0-p1 goes on", func() bool { return state(second) == 'S' })
	// A signal reaches a process once that has a processor.
	waiting.Until(t, "net-s0-p0 stays stopped", func() bool { return state(first) == 'T' })
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
	if strings.Contains(run.progress.String(), "did not stop within") {
		t.Errorf("a paused validator had to be killed:\n%s", &run.progress)
	}
}

// checkFaultyLinks checks how many links of each validator have a fault, as it tells.
func (r *upRun) checkFaultyLinks(t *testing.T, want map[string]int) {
	t.Helper()
	faulty := map[string]int{}
	for _, validator := range r.processes(t).Validators {
		client := chain.NewClient(validator.HTTP, chain.Admin{})
		status, err := client.Status(t.Context())
		client.Close()
		if err != nil {
			t.Fatal(err)
		}
		faulty[validator.Name] = status.FaultyLinks
	}
	if !maps.Equal(faulty, want) {
		t.Errorf("faults are of %v, want %v", faulty, want)
	}
}

// cutOff is an order to cut off a validator, and others from it.
func cutOff(validator string, nodes ...string) supervision.Order {
	given := supervision.Order{
		Validators: []string{validator}, Action: v1alpha1.FaultActionPartition, DurationMilliseconds: time.Hour.Milliseconds(),
	}
	for _, node := range append(nodes, validator) {
		given.Nodes = append(given.Nodes, fault.Order{Node: node, Links: &chain.LinkFault{
			Peers: []string{"another"}, Condition: chain.LinkCut, DurationMilliseconds: given.DurationMilliseconds,
		}})
	}
	return given
}

// All nodes at the ends of the links are told of a fault, or none keeps it, and a
// network has one at a time.
func TestFaultsOfLinks(t *testing.T) {
	t.Parallel()
	const refuses = "net-s1-p1"
	run := startUp(t, t.TempDir(), Options{}, map[string]misbehaviour{refuses: {RefuseFault: true}})
	run.says(t, "ready after ")
	keeper := newKeeper(run.dir)
	strike := func(given supervision.Order) error { return keeper.order(t.Context(), strikePath, &given) }

	err := strike(cutOff("net-s0-p0", "net-s0-p1", refuses))
	if err == nil || !strings.Contains(err.Error(), "tell validator "+refuses+" of a fault of its links: ") {
		t.Errorf("the error is %v", err)
	}
	none := map[string]int{"net-s0-p0": 0, "net-s0-p1": 0, "net-s1-p0": 0, refuses: 0}
	run.checkFaultyLinks(t, none)

	if err := strike(cutOff("net-s0-p0", "net-s0-p1")); err != nil {
		t.Fatal(err)
	}
	both := maps.Clone(none)
	both["net-s0-p0"], both["net-s0-p1"] = 1, 1
	run.checkFaultyLinks(t, both)
	pause := supervision.Order{Validators: []string{"net-s0-p0"}, Action: v1alpha1.FaultActionPause, DurationMilliseconds: 1}
	for want, wrong := range map[string]supervision.Order{
		"validator net-s0-p0 has a fault already":                   pause,
		"the network has a fault of the links of net-s0-p0 already": cutOff("net-s0-p1", "net-s1-p0"),
	} {
		err := strike(wrong)
		if refused, ok := errors.AsType[*faulting.RefusedError](err); !ok || refused.Reason != want {
			t.Errorf("the error of %+v is %v, want a refusal: %s", wrong, err, want)
		}
	}
	// What is lifted of others is not of this one.
	for _, lifted := range []struct {
		validator string
		left      map[string]int
	}{{"net-s0-p1", both}, {"net-s0-p0", none}} {
		if err := keeper.Lift(t.Context(), []string{lifted.validator}); err != nil {
			t.Fatal(err)
		}
		run.checkFaultyLinks(t, lifted.left)
	}
	run.says(t, "the fault of the links of net-s0-p0 is over")

	// And one that nobody ends.
	short := cutOff("net-s1-p0")
	short.DurationMilliseconds = 100
	if err := strike(short); err != nil {
		t.Fatal(err)
	}
	run.says(t, "the fault of the links of net-s1-p0 is over")
	if err := strike(pause); err != nil {
		t.Error(err)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// What a node cannot be told to end, it has: nothing is measured meanwhile, and whoever
// ends the fault again hears that it goes on.
func TestFaultsThatAreNotLifted(t *testing.T) {
	t.Parallel()
	const keeps = "net-s0-p0"
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, map[string]misbehaviour{keeps: {KeepFault: true}})
	run.says(t, "ready after ")
	keeper := newKeeper(run.dir)
	given := cutOff(keeps)
	given.DurationMilliseconds = 10_000
	if err := keeper.order(t.Context(), strikePath, &given); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := keeper.Lift(t.Context(), []string{keeps}); err == nil ||
			!strings.Contains(err.Error(), "end the fault of the links of validator "+keeps) {
			t.Errorf("the error of a fault that is kept is %v", err)
		}
	}
	if _, err := Borrow(t.Context(), stateDir, naming(steady(80))); err == nil ||
		!strings.Contains(err.Error(), "validator "+keeps+" has a fault") {
		t.Errorf("the error of measuring a network with a fault is %v", err)
	}
	run.says(t, "the fault of the links of "+keeps+" is over")
	if err := keeper.Lift(t.Context(), []string{keeps}); err != nil {
		t.Error(err)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// pid is that of a validator's process; 0 while it does not run.
func (r *upRun) pid(t *testing.T, name string) int {
	t.Helper()
	for _, validator := range r.processes(t).Validators {
		if validator.Name == name {
			return validator.PID
		}
	}
	t.Fatalf("there is no validator %s", name)
	return 0
}

// What keeps a fault from being measured is an error, and leaves no fault behind.
func TestFaultsThatCannotBe(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	var progress output.Buffer
	err := RunFault(t.Context(), stateDir, readFault(t), &progress)
	if want := fmt.Sprintf("the network of %s does not run", filepath.Join(stateDir, "net")); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}

	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	err = RunFault(t.Context(), stateDir, readFault(t, "net-s1-p0", "net-s1-p7"), &progress)
	if want := "spec.validators.names: network net has no validator net-s1-p7"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	wanted := readFault(t, "durationSeconds: 5", "durationSeconds: 3600")
	go func() { done <- RunFault(ctx, stateDir, wanted, &progress) }()
	pid := run.pid(t, "net-s1-p0")
	waiting.Until(t, "net-s1-p0 is paused", func() bool { return state(pid) == 'T' })
	cancel()
	if err := <-done; err == nil || err.Error() != "interrupted before the fault was measured" {
		t.Errorf("the error is %v", err)
	}
	waiting.Until(t, "net-s1-p0 goes on", func() bool { return state(pid) == 'S' })
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}
