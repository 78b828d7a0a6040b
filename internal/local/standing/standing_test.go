// SPDX-License-Identifier: Apache-2.0

package standing_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/standing"
	"github.com/shardyard/shardyard/internal/local/traces"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// tip is the newest block, and one is made every tenth of a second.
	tip = 40
	ms  = time.Millisecond
)

// regions are those of the four validators, two of each of two shards.
var regions = [4]string{"north", "north", "south", "south"}

func nameOf(i int) string { return []string{"s0-p0", "s0-p1", "s1-p0", "s1-p1"}[i] }

// slowness is by how much longer something takes.
type slowness struct {
	execute, record map[int]time.Duration
	way             func(from, to int) time.Duration
	// executed are the means that metrics tell of, in milliseconds.
	executed map[int]float64
}

// newNetwork has four validators, of which all answer and none is slow, unless it is
// said how. Chunks of shard 1 are missing at some heights.
func newNetwork(t *testing.T, slow slowness, missing map[uint64]bool) *standing.Network {
	t.Helper()
	began := time.Now().Add(-tip * 100 * ms)
	at := func(height uint64) time.Time { return began.Add(time.Duration(height) * 100 * ms) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Params struct{ Height uint64 } }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		height := request.Params.Height
		block := chain.Block{
			Height: height, TimestampMs: at(height).UnixMilli(),
			Chunks: []chain.ChunkHeader{{Shard: 0, Height: height}, {Shard: 1, Height: height}},
		}
		if missing[height] {
			block.Chunks[1].Height--
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"result": block})
	}))
	t.Cleanup(server.Close)
	client := chain.NewClient(server.Listener.Addr().String(), chain.Admin{})
	t.Cleanup(client.Close)

	recent := traces.NewRecent(10_000)
	for height := uint64(1); height <= tip; height++ {
		recent.Add(spansOf(height, at(height), slow))
	}
	network := &standing.Network{
		Traces: recent,
		Executed: func(context.Context, time.Duration) (map[string]trace.Mean, error) {
			means := map[string]trace.Mean{nameOf(0): {Milliseconds: 4, Of: 40}}
			for node, mean := range slow.executed {
				means[nameOf(node)] = trace.Mean{Milliseconds: mean, Of: 40}
			}
			return means, nil
		},
		Finalized: func(context.Context) map[string]uint64 {
			return map[string]uint64{nameOf(0): tip, nameOf(1): tip - 3, nameOf(2): tip, nameOf(3): tip}
		},
		Newest: func(context.Context) (*chain.Client, uint64) { return client, tip },
	}
	for i, region := range regions {
		network.Validators = append(network.Validators, topology.Validator{
			Name: nameOf(i), Region: region, Role: topology.RoleProducer, Seat: &topology.Seat{Shard: i / 2, Slot: i % 2},
		})
	}
	return network
}

func spansOf(height uint64, at time.Time, slow slowness) []trace.Span {
	var spans []trace.Span
	add := func(name string, node, shard int, begin, took time.Duration) {
		spans = append(spans, trace.Span{
			Name: name, Height: height, Shard: shard, Node: nameOf(node), Region: regions[node], Begin: at.Add(begin), End: at.Add(begin + took),
		})
	}
	for node := range regions {
		add("execute", node, node/2, 0, 2*ms+slow.execute[node])
		add("record", node, node/2, 2*ms, 3*ms+slow.record[node])
		for from := range regions {
			if from == node || from%2 != int(height%2) {
				continue
			}
			way := ms
			if slow.way != nil {
				way = slow.way(from, node)
			}
			add("receive_part", node, from/2, 5*ms+way, ms)
		}
		if node%2 == int(height%2) {
			add("distribute", node, node/2, 5*ms, ms)
		}
	}
	return spans
}

// table is what is answered.
type table struct {
	TracedHeights, Blocks int
	Unknown               []string
	Validators            []row
	Ways                  []struct {
		Between  [2]string
		Outlying bool
	}
	Missed []struct {
		Shard    int
		Producer string
		Cause    trace.Cause
		Heights  []uint64
	}
}

type row struct {
	Name          string
	Answers       bool
	BlocksBehind  *int
	Executing     *figure
	Storing       *figure
	Travelling    *figure
	EndorsingLate *figure
	Executed      *figure
	Turns, Missed *int
	Says          string
}

type figure struct {
	Milliseconds float64
	Outlying     bool
}

func ask(t *testing.T, network *standing.Network) *table {
	t.Helper()
	recorder := httptest.NewRecorder()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/standing", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	network.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK {
		t.Fatalf("answers %d %s", recorder.Code, recorder.Body)
	}
	answer := &table{}
	if err := json.Unmarshal(recorder.Body.Bytes(), answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// Whoever is slow stands out, nobody else does, and it is said what points to why.
func TestWhoIsSlowStandsOut(t *testing.T) {
	t.Parallel()
	between := func(slow func(from, to int) bool) func(from, to int) time.Duration {
		return func(from, to int) time.Duration {
			if slow(from, to) {
				return 60 * ms
			}
			return ms
		}
	}
	for name, test := range map[string]struct {
		slow slowness
		want map[string]string
		ways string
	}{
		"nobody": {},
		"chance": {slow: slowness{execute: map[int]time.Duration{1: 2 * ms}, record: map[int]time.Duration{1: 9 * ms}}},
		"processor": {
			slow: slowness{execute: map[int]time.Duration{1: 8 * ms}},
			want: map[string]string{"s0-p1": "short of processor: executing takes 10 ms, its peers 2 ms"},
		},
		"disk": {
			slow: slowness{record: map[int]time.Duration{2: 40 * ms}},
			want: map[string]string{"s1-p0": "slow disk: storing takes 43 ms, its peers 3 ms"},
		},
		"processor, which stores late": {
			slow: slowness{execute: map[int]time.Duration{1: 8 * ms}, record: map[int]time.Duration{1: 11 * ms}},
			want: map[string]string{
				"s0-p1": "short of processor: executing takes 10 ms, its peers 2 ms; storing takes 14 ms, its peers 3 ms",
			},
		},
		"disk, with more to execute": {
			slow: slowness{execute: map[int]time.Duration{2: 4 * ms}, record: map[int]time.Duration{2: 40 * ms}},
			want: map[string]string{"s1-p0": "slow disk: executing takes 6 ms, its peers 2 ms; storing takes 43 ms, its peers 3 ms"},
		},
		"disk, by metrics": {
			slow: slowness{executed: map[int]float64{0: 10, 1: 10, 2: 10, 3: 81}},
			want: map[string]string{"s1-p1": "slow disk: executing and storing take 81 ms, its peers 10 ms"},
		},
		"one or the other, by metrics": {
			slow: slowness{execute: map[int]time.Duration{3: 3 * ms}, executed: map[int]float64{0: 3, 1: 3, 2: 3, 3: 14}},
			want: map[string]string{"s1-p1": "slower than its peers: executing and storing take 14 ms, its peers 3 ms"},
		},
		"all that it does": {
			slow: slowness{
				execute: map[int]time.Duration{3: 2 * ms}, record: map[int]time.Duration{3: 6 * ms},
				way: between(func(from, to int) bool { return from == 3 || to == 3 }),
			},
			want: map[string]string{"s1-p1": "short of processor, or hanging: the way to it and from it takes 60 ms, its peers 1 ms"},
			ways: "north-south, within south",
		},
		"connections": {
			slow: slowness{way: between(func(from, to int) bool { return from == 3 || to == 3 })},
			want: map[string]string{"s1-p1": "slow connections: the way to it and from it takes 60 ms, its peers 1 ms"},
			ways: "north-south, within south",
		},
		"a region": {
			slow: slowness{way: between(func(from, to int) bool { return from > 1 || to > 1 })},
			want: map[string]string{"s1-p0": "slow connections of its region south", "s1-p1": "slow connections of its region south"},
			ways: "north-south, within south",
		},
		"between regions": {
			slow: slowness{way: between(func(from, to int) bool { return regions[from] != regions[to] })},
			ways: "north-south",
		},
	} {
		answer := ask(t, newNetwork(t, test.slow, nil))
		for _, validator := range answer.Validators {
			if want := test.want[validator.Name]; validator.Says != want {
				t.Errorf("with slow %s, %s says %q, want %q", name, validator.Name, validator.Says, want)
			}
		}
		var ways []string
		for _, way := range answer.Ways {
			switch {
			case !way.Outlying:
			case way.Between[0] == way.Between[1]:
				ways = append(ways, "within "+way.Between[0])
			default:
				ways = append(ways, strings.Join(way.Between[:], "-"))
			}
		}
		if got := strings.Join(ways, ", "); got != test.ways {
			t.Errorf("with slow %s, these ways stand out: %s, want %s", name, got, test.ways)
		}
	}
}

// What nobody told is no figure, and not 0.
func TestWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	network := newNetwork(t, slowness{}, nil)
	network.Traces = nil
	network.Finalized = func(context.Context) map[string]uint64 { return map[string]uint64{nameOf(0): 3, nameOf(1): 1} }
	network.Newest = func(context.Context) (*chain.Client, uint64) { return nil, 0 }
	network.Executed = func(context.Context, time.Duration) (map[string]trace.Mean, error) { return nil, errors.New("gone") }
	answer := ask(t, network)
	if answer.TracedHeights != 0 || answer.Blocks != 0 || len(answer.Ways) != 0 || len(answer.Missed) != 0 {
		t.Errorf("got %+v", answer)
	}
	if len(answer.Unknown) != 1 || answer.Unknown[0] != "the metrics: gone" {
		t.Errorf("not known is %q", answer.Unknown)
	}
	for i, validator := range answer.Validators {
		checkNoFigures(t, validator)
		says := ""
		if i > 1 {
			says = "no answer"
		}
		if answers := i < 2; validator.Says != says || validator.Answers != answers || (validator.BlocksBehind != nil) != answers {
			t.Errorf("got %+v", validator)
		}
	}
	if behind := answer.Validators[1].BlocksBehind; behind == nil || *behind != 2 {
		t.Errorf("it is behind by %v", behind)
	}
}

func checkNoFigures(t *testing.T, of row) {
	t.Helper()
	for _, figure := range []*figure{of.Executing, of.Storing, of.Travelling, of.EndorsingLate, of.Executed} {
		if figure != nil {
			t.Errorf("%s has %+v", of.Name, figure)
		}
	}
	if of.Turns != nil || of.Missed != nil {
		t.Errorf("%s had turns, and missed some", of.Name)
	}
}

// Missed chunks are those of whose turn it was, and who misses more than the others
// stands out.
func TestMissedChunks(t *testing.T) {
	t.Parallel()
	network := newNetwork(t, slowness{}, map[uint64]bool{3: true, 9: true, 21: true})
	answer := ask(t, network)
	if answer.Blocks != tip || len(answer.Missed) != 1 {
		t.Fatalf("of %d blocks there are %+v", answer.Blocks, answer.Missed)
	}
	missed := answer.Missed[0]
	if missed.Shard != 1 || missed.Producer != "s1-p1" || missed.Cause != trace.Untold || len(missed.Heights) != 3 || missed.Heights[0] != 21 {
		t.Errorf("got %+v", missed)
	}
	producer := answer.Validators[3]
	if *producer.Turns != tip/2 || *producer.Missed != 3 || producer.Says != "slower than its peers: it missed 3 of its 20 turns" {
		t.Errorf("got %d of %d: %s", *producer.Missed, *producer.Turns, producer.Says)
	}
	for _, other := range answer.Validators[:3] {
		if *other.Missed != 0 || other.Says != "" {
			t.Errorf("%s missed %d and says %q", other.Name, *other.Missed, other.Says)
		}
	}
}
