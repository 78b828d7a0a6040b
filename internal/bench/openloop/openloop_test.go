// SPDX-License-Identifier: Apache-2.0

package openloop_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/bench/openloop"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// document is what a loader writes of three seconds, and one in which it waited.
const document = `{
  "version": 1, "network": "net", "genesisHash": "00", "settings": {"nodes": [], "users": {"users": 10, "everyMs": 1000}},
  "startedAtMs": 5000, "elapsedSeconds": 4.5,
  "totals": {"offered": 30, "unsent": 1, "sent": 29, "accepted": 20, "executed": 18, "refused": {"full": 8, "nonce": 1},
    "failed": {"balance": 1}, "expired": 0, "retried": {}, "renewed": 2, "noAnswer": {"timeout": 3}, "inFlight": 1},
  "acceptedMs": {"count": 20, "mean": 5, "p50": 4, "p90": 8, "p99": 9, "p999": 9, "max": 10},
  "executedMs": {"count": 18, "mean": 500, "p50": 400, "p90": 800, "p99": 900, "p999": 900, "max": 1000},
  "saturation": {"scheduleLagMs": {"count": 29, "p99": 2}, "missedTicks": 4, "cpuSeconds": 0.5, "cores": 2, "saturated": false},
  "blocks": {"firstHeight": 10, "lastHeight": 14, "executed": 18},
  "seconds": [
    {"offered": 10, "accepted": 9, "executed": 2}, {"offered": 10, "accepted": 6, "executed": 5},
    {"offered": 10, "accepted": 4, "executed": 6}, {"offered": 0, "accepted": 1, "executed": 5}
  ]
}`

func decoded(t *testing.T) *openloop.Document {
	t.Helper()
	read, err := openloop.Decode([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

var plan = openloop.Plan{Users: 10, WarmUp: time.Second, Duration: 2 * time.Second}

func documented(t *testing.T) result.OpenLoopStep {
	t.Helper()
	step, err := openloop.Step(plan, decoded(t))
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// Rates are of what follows the warm-up while transfers are due, and counts are of
// the whole step.
func TestStep(t *testing.T) {
	t.Parallel()
	step := documented(t)
	if step.OfferedPerSecond != 10 || step.AcceptedPerSecond != 5 || step.ToldPerSecond != 5.5 {
		t.Errorf("the rates are %+v", step)
	}
	if step.BeganMs != 5000 || step.EndedMs != 8000 || step.Window != (result.Window{BeginMs: 6000, EndMs: 8000}) {
		t.Errorf("the times are %+v", step)
	}
	if step.Users != 10 || step.Transfers.SuccessPercent() != 60 || step.ExecutedMs.P99 != 900 || step.Saturation.MissedTicks != 4 {
		t.Errorf("the step is %+v", step)
	}
	want := []result.Failure{
		{Kind: "refused", Reason: "full", Transfers: 8},
		{Kind: "refused", Reason: "nonce", Transfers: 1},
		{Kind: "failed", Reason: "balance", Transfers: 1},
		{Kind: "in flight", Transfers: 1},
		{Kind: "unsent", Transfers: 1},
	}
	if got := step.Transfers.Failures(); !reflect.DeepEqual(got, want) {
		t.Errorf("the failures are %+v, want %+v", got, want)
	}
	words := openloop.Describe(&step)
	for _, want := range []string{"of 30 transfers of 10 users", "accepted 20", "18 were executed (60.0%)", "refused (full) 8", "unsent 1"} {
		if !strings.Contains(words, want) {
			t.Errorf("the words are %q, want %q in them", words, want)
		}
	}
	if strings.Contains(words, "THE LIMIT") {
		t.Errorf("the words blame a loader that had time: %q", words)
	}
}

func TestDocumentsThatAreWrong(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ from, to, want string }{
		"another version": {`"version": 1`, `"version": 2`, "result of loader has version 2, this program reads 1"},
		"no document":     {`"version": 1`, `version`, "decode result of loader: "},
		"a lost transfer": {`"unsent": 1`, `"unsent": 0`, "of 30 transfers that were offered, the loader knows the end of 29"},
		"one too many":    {`"expired": 0`, `"expired": 1`, "of 30 transfers that were offered, the loader knows the end of 31"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := openloop.Decode([]byte(strings.Replace(document, test.from, test.to, 1)))
			if err == nil {
				_, err = openloop.Step(plan, read)
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

// run has a block of five executed transfers in every half second.
func run() *result.Run {
	made := &result.Run{}
	for height := range uint64(40) {
		made.Blocks = append(made.Blocks, result.Block{Height: height, TimestampMs: int64(height) * 500, Executed: 5})
	}
	return made
}

// conclude holds the document against the blocks of a run.
func conclude(t *testing.T, made *result.Run) error {
	t.Helper()
	clients := &result.OpenLoop{EveryMilliseconds: 1000, Nodes: 1, Steps: []result.OpenLoopStep{documented(t)}}
	return openloop.Conclude(made, clients, []*openloop.Document{decoded(t)})
}

// Blocks have the last word, and more than a loader was told is not all its own.
func TestConclude(t *testing.T) {
	t.Parallel()
	made := run()
	if err := conclude(t, made); err != nil {
		t.Fatal(err)
	}
	step := made.OpenLoop.Last()
	if step.ExecutedPerSecond == nil || *step.ExecutedPerSecond != 10 || *step.ExecutedInBlocks != 20 {
		t.Errorf("blocks say %v transfers per second and %v in all, want 10 and 20", step.ExecutedPerSecond, step.ExecutedInBlocks)
	}
	notes := strings.Join(made.Notes, "\n")
	for _, want := range []string{"blocks executed 2 transfers that the loader was not told of", "no number of users holds"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes are %q, want %q", notes, want)
		}
	}

	short := run()
	short.Blocks = short.Blocks[:14]
	if err := conclude(t, short); err != nil {
		t.Fatal(err)
	}
	if step := short.OpenLoop.Last(); step.ExecutedPerSecond != nil || step.ExecutedInBlocks != nil {
		t.Errorf("without all blocks, they say %v and %v", step.ExecutedPerSecond, step.ExecutedInBlocks)
	}

	few := run()
	few.Blocks[12].Executed = 0
	err := conclude(t, few)
	if err == nil || !strings.Contains(err.Error(), "was told that 18 of their transfers are executed, and the blocks of that time hold 15") {
		t.Errorf("the error is %v, want that blocks hold less than the loader was told", err)
	}
}

// users are a step of which so many in a hundred transfers were executed.
func users(number int32, success uint64) result.OpenLoopStep {
	return result.OpenLoopStep{
		Users:     number,
		Transfers: result.ClientTransfers{Offered: 100, Sent: 100, Executed: success, Expired: 100 - success},
	}
}

// blocksOf makes the blocks of steps that follow each other, ten seconds each.
func blocksOf(steps []result.OpenLoopStep, rates ...uint64) *result.Run {
	made := &result.Run{Blocks: []result.Block{{}}}
	for i := range steps {
		begin := int64(i) * 10_000
		steps[i].Window = result.Window{BeginMs: begin, EndMs: begin + 10_000}
		made.Blocks = append(made.Blocks, result.Block{Height: uint64(i) + 1, TimestampMs: begin + 10_000, Executed: 10 * rates[i]})
	}
	return made
}

func TestKnee(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		steps  []result.OpenLoopStep
		rates  []uint64
		change func([]result.OpenLoopStep)
		knee   int32
		want   []string
	}{
		"less success behind it": {
			steps: []result.OpenLoopStep{users(2000, 99), users(9000, 40)}, rates: []uint64{278, 209}, knee: 2000,
			want: []string{
				"the knee is at 2000 users, of the numbers that were tried: 99.0% of what they sent was executed, and 40.0% with 9000 users",
				"more users have less success: 278 transfers per second were executed with 2000 users, and 209 with 9000",
			},
		},
		"no less success": {
			steps: []result.OpenLoopStep{users(10, 100), users(20, 98), users(40, 50)}, rates: []uint64{100, 200, 195}, knee: 20,
			want: []string{
				"the knee is at 20 users, of the numbers that were tried: 98.0% of what they sent was executed, and 50.0% with 40 users",
				"more users do not have less success: 195 transfers per second were executed with 40 users, and at most 200 with fewer",
			},
		},
		"all hold, the most first": {
			steps: []result.OpenLoopStep{users(20, 100), users(10, 100)}, rates: []uint64{200, 100}, knee: 20,
			want: []string{
				"the knee is at 20 users, of the numbers that were tried: 100.0% of what they sent was executed, and nobody tried more",
				"more users do not have less success: most were executed with 20 users, 200 transfers per second",
			},
		},
		"none holds": {
			steps: []result.OpenLoopStep{users(10, 97)}, rates: []uint64{10}, knee: 0,
			want: []string{
				"no number of users holds: of none were 98% of what they sent executed",
				"more users do not have less success: most were executed with 10 users, 10 transfers per second",
			},
		},
		"a loader that had no time": {
			steps: []result.OpenLoopStep{users(10, 100), users(20, 60)}, rates: []uint64{100, 50}, knee: 10,
			change: func(steps []result.OpenLoopStep) {
				steps[1].Saturation = result.Saturation{Saturated: true, MissedTicks: 7, CPUSeconds: 3}
			},
			want: []string{
				"THE LOADER, NOT THE CHAIN, WAS THE LIMIT with 20 users: 7 transfers were sent late because of it, and it used 3.0 s of the processors",
				"the knee is at 10 users, of the numbers that were tried: 100.0% of what they sent was executed, and 60.0% with 20 users",
				"more users have less success: 100 transfers per second were executed with 10 users, and 50 with 20, where the loader was the limit",
			},
		},
		"a loader that was late, and no harm done": {
			steps: []result.OpenLoopStep{users(10, 100)}, rates: []uint64{100}, knee: 10,
			change: func(steps []result.OpenLoopStep) {
				steps[0].Saturation = result.Saturation{Saturated: true, MissedTicks: 7, CPUSeconds: 3}
			},
			want: []string{
				"the loader was late with 10 users, and their latencies are partly its own: " +
					"7 transfers were sent late because of it, and it used 3.0 s of the processors",
				"the knee is at 10 users, of the numbers that were tried: 100.0% of what they sent was executed, and nobody tried more",
				"more users do not have less success: most were executed with 10 users, 100 transfers per second",
			},
		},
		"nodes that answer no more": {
			steps: []result.OpenLoopStep{users(10, 100), users(20, 50), users(30, 50)}, rates: []uint64{100, 200, 200}, knee: 10,
			change: func(steps []result.OpenLoopStep) {
				for i := range steps[1:] {
					steps[1+i].Transfers.Expired, steps[1+i].Transfers.Unsent = 0, 50
				}
				steps[1].AcceptedPerSecond, steps[2].AcceptedPerSecond = 1800, 1799
			},
			want: []string{
				"with 20 users, the nodes that they talk to were the limit, with the requests that these answer: " +
					"1800 transfers per second were accepted, of 1000 requests a second that each of 2 answers at most",
				"the knee is at 10 users, of the numbers that were tried: 100.0% of what they sent was executed, and 50.0% with 20 users",
				"more users do not have less success: 200 transfers per second were executed with 30 users, and at most 200 with fewer",
			},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := blocksOf(test.steps, test.rates...)
			if test.change != nil {
				test.change(test.steps)
			}
			documents := make([]*openloop.Document, len(test.steps))
			for i := range documents {
				documents[i] = &openloop.Document{}
			}
			if err := openloop.Conclude(made, &result.OpenLoop{Nodes: 2, Steps: test.steps}, documents); err != nil {
				t.Fatal(err)
			}
			if made.OpenLoop.KneeUsers != test.knee {
				t.Errorf("the knee is at %d users, want %d", made.OpenLoop.KneeUsers, test.knee)
			}
			if !reflect.DeepEqual(made.Notes, test.want) {
				t.Errorf("the notes are\n%s\nwant\n%s", strings.Join(made.Notes, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		transfers result.ClientTransfers
		want      bool
	}{
		"enough":    {result.ClientTransfers{Offered: 100, Executed: 98}, true},
		"too few":   {result.ClientTransfers{Offered: 1000, Executed: 979}, false},
		"of nobody": {result.ClientTransfers{}, false},
	}
	for name, test := range cases {
		if step := (&result.OpenLoopStep{Transfers: test.transfers}); step.Holds() != test.want {
			t.Errorf("%s: it holds is %t, want %t", name, step.Holds(), test.want)
		}
	}
}
