// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
)

// seen is what a test saw: 40 blocks, one every 250 ms, of which nothing is missing,
// unless it says more.
type seen struct {
	fault.Sighting

	blocks int
	// missed says whether the chunk of a shard is missing at a height.
	missed func(shard int, height uint64) bool
	// took is how long a block takes, in milliseconds.
	took func(height uint64) int64
}

func sighting(changes ...func(*seen)) *fault.Sighting {
	s := &seen{
		Sighting: fault.Sighting{
			Duration: 10 * time.Second, LongestWait: 400 * time.Millisecond,
			Answers: map[string]fault.Answers{
				"net-s0-p0": {Asked: 50, Answered: 50}, "net-s0-p1": {Asked: 50, Answered: 50},
			},
			Endorsed: fault.Endorsed{Chunks: 80, Partly: 20},
		},
		blocks: 40,
		missed: func(int, uint64) bool { return false },
		took:   func(uint64) int64 { return 250 },
	}
	for _, change := range changes {
		change(s)
	}
	var now int64
	newest := map[int]uint64{}
	for height := uint64(100); height <= 100+uint64(s.blocks); height++ {
		block := &chain.Block{Height: height, TimestampMs: now}
		for shard := range 2 {
			if !s.missed(shard, height) {
				newest[shard] = height
			}
			block.Chunks = append(block.Chunks, chain.ChunkHeader{Shard: shard, Height: newest[shard]})
		}
		s.Blocks = append(s.Blocks, block)
		now += s.took(height + 1)
	}
	return &s.Sighting
}

// silent has a validator answer nothing.
func silent(name string) func(*seen) {
	return func(s *seen) { s.Answers[name] = fault.Answers{Asked: 10} }
}

func restarted(name string) func(*seen) {
	return func(s *seen) { s.Answers[name] = fault.Answers{Asked: 50, Answered: 48, Restarted: true} }
}

func blocks(count int) func(*seen) {
	return func(s *seen) { s.blocks = count }
}

func lasting(duration time.Duration) func(*seen) {
	return func(s *seen) { s.Duration = duration }
}

func missed(missed func(shard int, height uint64) bool) func(*seen) {
	return func(s *seen) { s.missed = missed }
}

func took(milliseconds int64) func(*seen) {
	return func(s *seen) { s.took = func(uint64) int64 { return milliseconds } }
}

// turns are those of the first producer of the first shard.
func turns(shard int, height uint64) bool {
	return shard == 0 && height%2 == 0
}

// impaired has a validator tell so often that its links have a fault.
func impaired(name string, times int) func(*seen) {
	return func(s *seen) { s.Answers[name] = fault.Answers{Asked: 50, Answered: 48, Impaired: times} }
}

// newCase is a fault of the first producer of the first shard.
func newCase(before, during *fault.Sighting) *fault.Case {
	plan := newPlan()
	return &fault.Case{Plan: plan, Scope: plan.Nodes[:1], Before: before, During: during}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	const victim = "net-s0-p0"
	cases := map[string]struct {
		before, during *fault.Sighting
		status         metav1.ConditionStatus
		reason         string
		felt           []v1alpha1.FaultMeasure
		words          string
	}{
		"its turns are missed": {
			during: sighting(silent(victim), missed(turns)),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultMissedTurns},
			words: "MissedTurns 20 of 20, before 0 of 20",
		},
		"a few turns of few blocks are missed": {
			during: sighting(silent(victim), blocks(8), lasting(2*time.Second), missed(turns)),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultMissedTurns},
			words: "MissedTurns 4 of 4, before 0 of 20",
		},
		"the turns of others are missed": {
			during: sighting(restarted(victim), missed(func(shard int, height uint64) bool { return shard == 1 && height%3 == 0 })),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultMissedChunks},
			words: "MissedChunks 13 of 60, before 0 of 60",
		},
		"blocks are slow": {
			during: sighting(silent(victim), func(s *seen) {
				s.took = func(height uint64) int64 { return 250 + 500*int64(height%4/3) }
			}),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultSlowBlocks},
			words: "SlowBlocks 10 of 40, before 0 of 40",
		},
		"endorsements are missing": {
			during: sighting(silent(victim), func(s *seen) { s.Endorsed.Partly = 80 }),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultPartlyEndorsedChunks},
			words: "PartlyEndorsedChunks 80 of 80, before 20 of 80",
		},
		"the chain stands still": {
			during: sighting(silent(victim), blocks(0), func(s *seen) { s.LongestWait = 10 * time.Second }),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultFewerBlocks},
			words: "FewerBlocks 0 in 10.0 s, before 40 in 10.0 s",
		},
		"the chain is slower": {
			during: sighting(silent(victim), blocks(14)),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonFelt, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultFewerBlocks},
			words: "FewerBlocks 14 in 10.0 s, before 40 in 10.0 s",
		},
		"as many blocks in half of the time": {
			during: sighting(silent(victim), blocks(20), lasting(5*time.Second)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
		},
		"a little slower for long": {
			before: sighting(blocks(4000), lasting(1000*time.Second)),
			during: sighting(silent(victim), blocks(3100), lasting(1000*time.Second)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
		},
		"no duty is missed": {
			during: sighting(silent(victim)), status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
			words: "the chain was no worse than before in the 40 blocks of it",
		},
		"slower than a short time before": {
			before: sighting(blocks(20), lasting(5200*time.Millisecond)),
			during: sighting(silent(victim), blocks(680), lasting(280*time.Second), took(410)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
			words: "blocks are fewer by a quarter or more, FewerBlocks 680 in 280.0 s, before 20 in 5.2 s",
		},
		"turns that were missed before, too": {
			before: sighting(missed(turns)),
			during: sighting(silent(victim), missed(turns)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
		},
		"a turn that is missed by chance": {
			during: sighting(silent(victim), missed(func(shard int, height uint64) bool { return shard == 0 && height == 110 })),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotFelt,
		},
		"too few blocks": {
			during: sighting(silent(victim), blocks(19), lasting(5*time.Second)),
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonTooFewBlocks,
			words: "the chain made 19 blocks while the fault lasted",
		},
		"it answers": {
			during: sighting(missed(turns)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotReached, felt: []v1alpha1.FaultMeasure{v1alpha1.FaultMissedTurns},
			words: "1 of 1 validators do not show the fault: net-s0-p0 answered 50 of 50 times, before 50 of 50",
		},
		"it did not answer before": {
			before: sighting(silent(victim)), during: sighting(silent(victim)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotReached,
			words: "net-s0-p0 answered 0 of 10 times, before 0 of 10",
		},
		"another one does not answer": {
			during: sighting(silent("net-s0-p1")), status: metav1.ConditionFalse, reason: v1alpha1.ReasonNotReached,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := test.before
			if before == nil {
				before = sighting()
			}
			judged := newCase(before, test.during)
			got := judged.Effective()
			if got.Status != test.status || got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
				t.Errorf("says %s (%s): %s, want %s (%s): %s", got.Status, got.Reason, got.Message, test.status, test.reason, test.words)
			}
			if felt := judged.Felt(judged.During); !slices.Equal(felt, test.felt) {
				t.Errorf("the chain feels %v, want %v", felt, test.felt)
			}
		})
	}
}

// Of a fault that nodes keep, a validator itself tells.
func TestEffectiveOfNodes(t *testing.T) {
	t.Parallel()
	const victim = "net-s0-p0"
	replaced := func(s *seen) {
		s.Answers[victim] = fault.Answers{Asked: 50, Answered: 48, Impaired: 20, Restarted: true}
	}
	cases := map[string]struct {
		during  *fault.Sighting
		reached v1alpha1.FaultReach
		reason  string
		words   string
	}{
		"felt":     {sighting(impaired(victim, 45), missed(turns)), v1alpha1.FaultImpaired, v1alpha1.ReasonFelt, "MissedTurns 20 of 20"},
		"not felt": {sighting(impaired(victim, 25)), v1alpha1.FaultImpaired, v1alpha1.ReasonNotFelt, "the chain was no worse than before"},
		"for half of the time": {
			sighting(impaired(victim, 24), missed(turns)), v1alpha1.FaultNotReached, v1alpha1.ReasonNotReached,
			"1 of 1 validators do not show the fault: net-s0-p0 told of a fault of its links 24 of 48 times",
		},
		"silent":   {sighting(silent(victim), missed(turns)), v1alpha1.FaultNotReached, v1alpha1.ReasonNotReached, "0 of 0 times"},
		"replaced": {sighting(replaced, missed(turns)), v1alpha1.FaultNotReached, v1alpha1.ReasonNotReached, "20 of 48 times"},
		"another": {
			sighting(impaired("net-s0-p1", 48), missed(turns)), v1alpha1.FaultNotReached, v1alpha1.ReasonNotReached, "0 of 50 times",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := newCase(sighting(), test.during)
			judged.Action = v1alpha1.FaultActionDelay
			if got := judged.Effective(); got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
				t.Errorf("says %s: %s, want %s: %s", got.Reason, got.Message, test.reason, test.words)
			}
			shown := judged.Validators()
			if answers := test.during.Answers[victim]; len(shown) != 1 || shown[0].Reached != test.reached ||
				int(shown[0].Impaired) != answers.Impaired {
				t.Errorf("tells %+v, want %s", shown, test.reached)
			}
			judged.Action = v1alpha1.FaultActionSlowDisk
			if got := judged.Effective(); got.Reason != test.reason ||
				!strings.Contains(got.Message, strings.Replace(test.words, "its links", "its disk", 1)) {
				t.Errorf("of a disk, says %s: %s, want %s: %s", got.Reason, got.Message, test.reason, test.words)
			}
			judged.Action = v1alpha1.FaultActionWrongClock
			if got := judged.Effective(); got.Reason != test.reason ||
				!strings.Contains(got.Message, strings.Replace(test.words, "its links", "its clock", 1)) {
				t.Errorf("of a clock, says %s: %s, want %s: %s", got.Reason, got.Message, test.reason, test.words)
			}
			// Of a process, that it tells so says nothing.
			judged.Action = v1alpha1.FaultActionPause
			if shown := judged.Validators(); shown[0].Reached == v1alpha1.FaultImpaired {
				t.Errorf("of a pause, it tells %+v", shown)
			}
		})
	}
}

// A validator whose disk is full ends, and does not tell.
func TestEffectiveOfFullDisks(t *testing.T) {
	t.Parallel()
	const victim = "net-s0-p0"
	for name, test := range map[string]struct {
		during  *fault.Sighting
		reached v1alpha1.FaultReach
		words   string
	}{
		"it is away":    {sighting(silent(victim), missed(turns)), v1alpha1.FaultUnreachable, "MissedTurns 20 of 20"},
		"it came back":  {sighting(restarted(victim), missed(turns)), v1alpha1.FaultRestarted, "MissedTurns 20 of 20"},
		"it writes on":  {sighting(missed(turns)), v1alpha1.FaultNotReached, "net-s0-p0 answered 50 of 50 times, before 50 of 50"},
		"it says it is": {sighting(impaired(victim, 48), missed(turns)), v1alpha1.FaultNotReached, "net-s0-p0 answered 48 of 50 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := newCase(sighting(), test.during)
			judged.Action = v1alpha1.FaultActionFullDisk
			if got := judged.Effective(); !strings.Contains(got.Message, test.words) {
				t.Errorf("says %s: %s, want %s", got.Reason, got.Message, test.words)
			}
			if shown := judged.Validators(); shown[0].Reached != test.reached {
				t.Errorf("tells %+v, want %s", shown, test.reached)
			}
		})
	}
}

// That a validator was started anew shows nothing of what it runs now.
func TestEffectiveOfAnotherProgram(t *testing.T) {
	t.Parallel()
	const victim = "net-s0-p0"
	answers := func(answers fault.Answers) func(*seen) {
		return func(s *seen) { s.Answers[victim] = answers }
	}
	for name, test := range map[string]struct {
		during  *fault.Sighting
		reached v1alpha1.FaultReach
		words   string
	}{
		"another version": {sighting(impaired(victim, 25), missed(turns)), v1alpha1.FaultImpaired, "MissedTurns 20 of 20"},
		"not felt":        {sighting(impaired(victim, 48)), v1alpha1.FaultImpaired, "the chain was no worse than before"},
		"no API": {
			sighting(answers(fault.Answers{Asked: 50, Answered: 3}), missed(turns)), v1alpha1.FaultUnreachable, "MissedTurns 20 of 20",
		},
		"it ends again and again": {
			sighting(answers(fault.Answers{Asked: 50, Answered: 5, Impaired: 3, Restarted: true}), missed(turns)),
			v1alpha1.FaultImpaired, "MissedTurns 20 of 20",
		},
		"the same version": {
			sighting(answers(fault.Answers{Asked: 50, Answered: 35, Restarted: true}), missed(turns)), v1alpha1.FaultNotReached,
			"net-s0-p0 told of another version than before 0 of 35 times",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := newCase(sighting(), test.during)
			judged.Action = v1alpha1.FaultActionByzantine
			if got := judged.Effective(); !strings.Contains(got.Message, test.words) {
				t.Errorf("says %s: %s, want %s", got.Reason, got.Message, test.words)
			}
			if shown := judged.Validators(); shown[0].Reached != test.reached {
				t.Errorf("tells %+v, want %s", shown, test.reached)
			}
		})
	}
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		after   *fault.Sighting
		missing []string
		status  metav1.ConditionStatus
		reason  string
		words   string
	}{
		"as before": {after: sighting(blocks(20), lasting(5*time.Second)), status: metav1.ConditionTrue, reason: v1alpha1.ReasonAsBefore},
		"slower than before": {
			after:  sighting(blocks(20), lasting(6800*time.Millisecond)),
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonAsBefore,
			words: "but blocks are fewer by a quarter or more, FewerBlocks 20 in 6.8 s, before 40 in 10.0 s",
		},
		"few blocks": {
			after:  sighting(blocks(19), lasting(5*time.Second)),
			status: metav1.ConditionUnknown, reason: v1alpha1.ReasonTooFewBlocks,
			words: "the chain made 19 blocks since",
		},
		"no blocks": {
			after:  sighting(blocks(0)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonStillWorse, words: "FewerBlocks 0 in 10.0 s",
		},
		"missed turns": {
			after:  sighting(blocks(20), lasting(5*time.Second), missed(turns)),
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonStillWorse, words: "MissedTurns 10 of 10, before 0 of 20",
		},
		"a validator is missing": {
			missing: []string{"net-s0-p0 does not answer"},
			status:  metav1.ConditionFalse, reason: v1alpha1.ReasonValidatorsMissing,
			words: "1 of 1 validators do not take part: net-s0-p0 does not answer",
		},
		"many are missing": {
			missing: []string{"a", "b", "c", "d", "e", "f"},
			status:  metav1.ConditionFalse, reason: v1alpha1.ReasonValidatorsMissing, words: "a, b, c, d and 2 more",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newCase(sighting(), sighting(silent("net-s0-p0"))).Recovered(test.after, test.missing)
			if got.Status != test.status || got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
				t.Errorf("says %s (%s): %s, want %s (%s): %s", got.Status, got.Reason, got.Message, test.status, test.reason, test.words)
			}
		})
	}
}

// What is told of a validator is what was counted.
func TestValidators(t *testing.T) {
	t.Parallel()
	for want, during := range map[v1alpha1.FaultReach]*fault.Sighting{
		v1alpha1.FaultRestarted:   sighting(restarted("net-s0-p0")),
		v1alpha1.FaultUnreachable: sighting(silent("net-s0-p0")),
		v1alpha1.FaultNotReached:  sighting(),
	} {
		got := newCase(sighting(), during).Validators()
		answers := during.Answers["net-s0-p0"]
		if len(got) != 1 || got[0] != (v1alpha1.FaultValidatorStatus{
			Name: "net-s0-p0", Reached: want, Asked: int32(answers.Asked), Answered: int32(answers.Answered),
		}) {
			t.Errorf("tells %+v, want %s", got, want)
		}
	}
}

// What is told of a time is what was counted.
func TestWindow(t *testing.T) {
	t.Parallel()
	before := sighting()
	window := newCase(before, before).Window(v1alpha1.FaultBefore, before)
	if window.DurationMilliseconds != 10_000 || window.Blocks != 40 || *window.BlockTimeMilliseconds != 250 ||
		window.LongestWaitMilliseconds != 400 ||
		!slices.Equal(window.Shares, []v1alpha1.FaultShare{
			{Measure: v1alpha1.FaultMissedTurns, Of: 20},
			{Measure: v1alpha1.FaultMissedChunks, Of: 60},
			{Measure: v1alpha1.FaultPartlyEndorsedChunks, Count: 20, Of: 80},
			{Measure: v1alpha1.FaultSlowBlocks, Of: 40},
		}) {
		t.Errorf("the window is %+v", window)
	}
	empty := newCase(before, before).Window(v1alpha1.FaultDuring, &fault.Sighting{})
	if empty.BlockTimeMilliseconds != nil || empty.Shares != nil {
		t.Errorf("without blocks, the window is %+v", empty)
	}
}
