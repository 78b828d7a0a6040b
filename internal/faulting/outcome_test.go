// SPDX-License-Identifier: Apache-2.0

package faulting_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/faulting"
)

// newOutcome is what came of a fault of some validators, with all windows and measures.
func newOutcome(validators int, message string) *v1alpha1.FaultStatus {
	at := metav1.NewTime(time.Unix(1_800_000_000, 0))
	status := &v1alpha1.FaultStatus{
		StartTime: &at, EndTime: &at, RecoveryMilliseconds: ptr.To[int64](120_000), ValidatorsTotal: int32(validators),
		Felt: []v1alpha1.FaultMeasure{
			v1alpha1.FaultFewerBlocks, v1alpha1.FaultMissedTurns, v1alpha1.FaultMissedChunks, v1alpha1.FaultPartlyEndorsedChunks,
			v1alpha1.FaultSlowBlocks,
		},
	}
	for _, kind := range []string{v1alpha1.ConditionEffective, v1alpha1.ConditionRecovered} {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonValidatorsMissing, Message: message, LastTransitionTime: at,
		})
	}
	for _, name := range []v1alpha1.FaultWindowName{v1alpha1.FaultBefore, v1alpha1.FaultDuring, v1alpha1.FaultAfter} {
		window := v1alpha1.FaultWindow{
			Name: name, DurationMilliseconds: 3_600_000, Blocks: 36_000, BlockTimeMilliseconds: ptr.To[int64](100_000),
			LongestWaitMilliseconds: 3_600_000,
		}
		for _, measure := range status.Felt[1:] {
			window.Shares = append(window.Shares, v1alpha1.FaultShare{Measure: measure, Count: 1_000_000, Of: 9_999_999})
		}
		status.Windows = append(status.Windows, window)
	}
	for i := range validators {
		status.Validators = append(status.Validators, v1alpha1.FaultValidatorStatus{
			Name: fmt.Sprintf("net-s0-p%d", i), Reached: v1alpha1.FaultUnreachable, Asked: 18_000, Answered: 17_000, Impaired: int32(i),
		})
	}
	return status
}

// What a pod says is what is read, as far as there is room.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		validators int
		message    string
		whole      bool
	}{
		"a few":  {4, "words", true},
		"many":   {4096, "words", false},
		"words":  {4, strings.Repeat("é", 2000), false},
		"nobody": {0, "words", true},
	} {
		said := newOutcome(test.validators, test.message)
		message, err := faulting.EncodeOutcome(said)
		if err != nil || len(message) > 4096 {
			t.Fatalf("%s: the message has %d bytes: %v", name, len(message), err)
		}
		read, err := faulting.DecodeOutcome(message)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if whole := reflect.DeepEqual(read.Validators, said.Validators) && read.Conditions[0].Message == test.message; whole != test.whole {
			t.Errorf("%s: all of it is read: %v, want %v", name, whole, test.whole)
		}
		if read.ValidatorsTotal != int32(test.validators) || len(read.Windows) != 3 || !read.StartTime.Equal(said.StartTime) {
			t.Errorf("%s: it reads %+v", name, read)
		}
		for i := range read.Validators {
			if read.Validators[i] != said.Validators[i] {
				t.Errorf("%s: it reads %+v, want %+v", name, read.Validators[i], said.Validators[i])
			}
		}
	}
	if many, err := faulting.EncodeOutcome(newOutcome(4096, "words")); err != nil || strings.Count(many, "net-s0-p") < 20 {
		t.Errorf("of many, there are %d: %v", strings.Count(many, "net-s0-p"), err)
	}
}

// What is cut off, or somebody else's words, says nothing.
func TestOutcomesThatSayNothing(t *testing.T) {
	t.Parallel()
	whole, err := faulting.EncodeOutcome(newOutcome(4, "words"))
	if err != nil {
		t.Fatal(err)
	}
	unknown := newOutcome(4, "words")
	unknown.Conditions = unknown.Conditions[:1]
	half, err := faulting.EncodeOutcome(unknown)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{
		"", "{}", "error: interrupted", whole[:len(whole)-20], half, strings.Replace(whole, "Unreachable 18000", "Unreachable many", 1),
		`{"phase":"Measured","spy":1}`,
	} {
		if read, err := faulting.DecodeOutcome(message); err == nil {
			t.Errorf("%q is read as %+v", message, read)
		}
	}
}
