// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const pauseProducer = "../../config/samples/fault/pause-producer.yaml"

func TestFaultOptions(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	cases := map[string]struct {
		args []string
		want string
	}{
		"format":     {[]string{"-f", pauseProducer, "-o", "xml"}, `error: unknown output format "xml": want text or json`},
		"no fault":   {[]string{"-f", quickstart}, `kind: Invalid value: "ShardNetwork": must be Fault`},
		"no network": {[]string{"-f", pauseProducer, "--state-dir", stateDir}, "error: the network of " + stateDir + "/quickstart does not run"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shardyardFails(t, append([]string{"fault", "run"}, test.args...)...); len(got) != 1 || got[0] != test.want {
				t.Errorf("prints %q, want %q", got, test.want)
			}
		})
	}
}

func TestFaultExitCodes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		effective, recovered metav1.ConditionStatus
		want                 int
	}{
		{metav1.ConditionTrue, metav1.ConditionTrue, 0},
		{metav1.ConditionFalse, metav1.ConditionTrue, exitWithoutEffect},
		{metav1.ConditionUnknown, metav1.ConditionFalse, exitWithoutEffect},
		{metav1.ConditionTrue, metav1.ConditionFalse, exitNotRecovered},
		{metav1.ConditionTrue, metav1.ConditionUnknown, exitNotRecovered},
	}
	for _, test := range cases {
		got, _ := errors.AsType[exitError](exitOfFault(&v1alpha1.FaultStatus{Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionEffective, Status: test.effective}, {Type: v1alpha1.ConditionRecovered, Status: test.recovered},
		}}))
		if got.code != test.want {
			t.Errorf("effective %s and recovered %s end with %d, want %d", test.effective, test.recovered, got.code, test.want)
		}
	}
}

func TestWriteFault(t *testing.T) {
	t.Parallel()
	fault := &v1alpha1.Fault{Status: v1alpha1.FaultStatus{
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionEffective, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonFelt, Message: "it felt it",
		}},
		Validators: []v1alpha1.FaultValidatorStatus{{Name: "net-s0-p0", Reached: v1alpha1.FaultUnreachable, Asked: 9, Answered: 1}},
		Windows: []v1alpha1.FaultWindow{
			{
				Name: v1alpha1.FaultBefore, DurationMilliseconds: 10_000, Blocks: 40, BlockTimeMilliseconds: ptr.To[int64](250),
				LongestWaitMilliseconds: 400, Shares: []v1alpha1.FaultShare{{Measure: v1alpha1.FaultMissedTurns, Of: 20}},
			},
			{Name: v1alpha1.FaultDuring, DurationMilliseconds: 9_000, LongestWaitMilliseconds: 9_000},
		},
	}}
	var out strings.Builder
	if err := writeFault(&out, fault); err != nil {
		t.Fatal(err)
	}
	want := `
                         Before   During
DurationMilliseconds     10000    9000
Blocks                   40       0
BlockTimeMilliseconds    250      -
LongestWaitMilliseconds  400      9000
MissedTurns              0 of 20  -
MissedChunks             -        -
PartlyEndorsedChunks     -        -
SlowBlocks               -        -

net-s0-p0  Unreachable  answered 1 of 9

Effective: True (Felt): it felt it
`
	if out.String() != want {
		t.Errorf("writes\n%s\nwant\n%s", &out, want)
	}
}
