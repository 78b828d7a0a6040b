// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// signer is a network of one producer, of which each second has a block of 100 transfers
// that leave the pool half a second before it, and of which 3 of each chunk fail.
type signer struct {
	// before was signed, and is in blocks that were not recorded.
	before uint64
	// lostFrom is the second from which on 500 transfers are gone.
	lostFrom int
	// missed is a second whose block misses its chunk.
	missed int
	// behind is how many blocks a node is behind that produces nothing.
	behind   uint64
	byOthers bool
	silent   bool
}

// run is a record of 20 seconds. In each, 110 are signed and one is refused, so that nine
// more wait.
func (s *signer) run(t *testing.T) result.Run {
	t.Helper()
	recorder := newRecorder()
	waiting := uint64(0)
	for second := range 20 {
		height := uint64(second) + 1
		made := header(0, height, 100)
		if second > 0 {
			made.Results = []chain.ExecutionResult{executed(height-1, 97, 0)}
		}
		if second == s.missed && second > 0 {
			made = header(0, height-1, 100)
		}
		if err := recorder.Block(block(height, int64(second), made)); err != nil {
			t.Fatal(err)
		}
		// Those of the next chunk have left the pool already.
		waiting += 9
		signed := waiting + 100*(height+1)
		if second >= s.missed && s.missed > 0 {
			signed -= 100
		}
		if second >= s.lostFrom && s.lostFrom > 0 {
			signed += 500
		}
		row := sample(second, node("p", topology.RoleProducer, signed+height+s.before, height, used(1, 1, 1)))
		row.Nodes[0].Status.Pool.Transactions, row.Nodes[0].Status.FinalizedHeight = waiting, height
		slow := node("v", topology.RoleChunkValidator, 0, 0, used(1, 1, 1))
		slow.Status.Pool.Transactions, slow.Status.FinalizedHeight = 0, height-min(height, s.behind)
		row.Nodes = append(row.Nodes, slow)
		row.ByClients = s.byOthers
		if s.silent && second > 15 {
			row.Nodes[0].Status = nil
		}
		recorder.Sample(row)
	}
	return recorder.Run("")
}

// at is what there is at a second of a network that loses nothing: its blocks have 100
// each, the first at height 1.
func at(second int, rest int64) *result.Accounting {
	height := uint64(second) + 1
	return &result.Accounting{
		TimeMs: began.UnixMilli() + int64(second)*1000, Height: height,
		Signed: uint64(int64(110*height) + rest), Refused: height, Waiting: 9 * height,
		Executed: 97 * (height - 1), Failed: 3 * (height - 1), Executing: 100, Rest: rest, InFlight: 200,
	}
}

func TestAccounting(t *testing.T) {
	t.Parallel()
	const lost = "of 2580 signed transfers, 600 are neither executed, failed, refused nor waiting, " +
		"and more than the 200 that may have been on their way"
	for name, test := range map[string]struct {
		signer signer
		want   *result.Accounting
		note   string
	}{
		"nothing is lost":                {signer{}, at(17, 100), ""},
		"lost before the last samples":   {signer{lostFrom: 13}, at(17, 600), lost},
		"gone at some of the last alone": {signer{lostFrom: 15}, at(14, 100), ""},
		"clients sign":                   {signer{byOthers: true}, nil, ""},
		"a silent node at the end":       {signer{silent: true}, at(15, 100), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := test.signer.run(t)
			if !reflect.DeepEqual(run.Accounting, test.want) {
				t.Errorf("what became of transfers is %+v, want %+v", run.Accounting, test.want)
			}
			if noted := slices.Contains(run.Notes, test.note); noted != (test.note != "") {
				t.Errorf("the notes are %q, want %q", run.Notes, test.note)
			}
		})
	}
}

// Nobody knows what a chunk had that is missed: no sample before its block tells anything.
func TestAccountingOfMissedChunks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		signer signer
		height uint64
	}{
		// Second 18 has the block of height 19, and height 20 is the last.
		{signer{missed: 18}, 17},
		// All nodes know at height 18 that it was missed, or at the heights up to then not.
		{signer{missed: 15}, 18},
		{signer{missed: 15, behind: 1}, 18},
		{signer{missed: 15, behind: 2}, 14},
	} {
		run := test.signer.run(t)
		if got := run.Accounting; got == nil || got.Height != test.height || got.Lost() != 0 {
			t.Errorf("with %+v, what became of transfers is %+v, want what it was at height %d", test.signer, got, test.height)
		}
	}
}

// What a network had signed before the record is no part of it, and is not lost.
func TestAccountingOfANetworkOfBefore(t *testing.T) {
	t.Parallel()
	run := (&signer{before: 1_000_000}).run(t)
	got := run.Accounting
	if got == nil || got.Signed > 3000 || got.Rest != 0 || got.Lost() != 0 {
		t.Errorf("what became of transfers is %+v, want nothing to be missing of those of 17 seconds", got)
	}
	if run := (&signer{before: 1_000_000, lostFrom: 10}).run(t); run.Accounting.Lost() != 300 {
		t.Errorf("what became of transfers is %+v, want 300 to be lost", run.Accounting)
	}
}
