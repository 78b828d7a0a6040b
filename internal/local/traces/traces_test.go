// SPDX-License-Identifier: Apache-2.0

package traces_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/traces"
	"github.com/shardyard/shardyard/internal/trace"
)

var genesis = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// spansOf are those of a block of 100 ms, of which 60 are the leader's vote.
func spansOf(height uint64) []trace.Span {
	at := func(milliseconds int) time.Time {
		return genesis.Add(time.Duration(height)*time.Second + time.Duration(milliseconds)*time.Millisecond)
	}
	span := func(name string, begin, end int) trace.Span {
		return trace.Span{Name: name, Height: height, Shard: trace.NoShard, Node: "n0", Region: "here", Begin: at(begin), End: at(end)}
	}
	return []trace.Span{span("block", 0, 100), span("finalise", 0, 60), span("record_block", 60, 100)}
}

func get(t *testing.T, recent *traces.Recent, path string, answer any) int {
	t.Helper()
	recorder := httptest.NewRecorder()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	recent.Handler().ServeHTTP(recorder, request)
	if recorder.Code == http.StatusOK {
		if err := json.Unmarshal(recorder.Body.Bytes(), answer); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Code
}

type answer struct {
	SampleBasisPoints int32
	Blocks            []struct {
		Height       uint64
		Milliseconds float64
		Waited       map[string]float64
	}
}

func TestNewestBlocks(t *testing.T) {
	t.Parallel()
	recent := traces.NewRecent(10_000)
	for height := uint64(1); height <= 350; height++ {
		recent.Add(spansOf(height))
	}
	recent.Add(spansOf(351)[1:])
	recent.Add(spansOf(2))
	var list answer
	if code := get(t, recent, "/", &list); code != http.StatusOK || list.SampleBasisPoints != 10_000 {
		t.Fatalf("answers %d, %+v", code, list)
	}
	// The one without a begin has no path yet.
	if len(list.Blocks) != 120 || list.Blocks[0].Height != 350 || list.Blocks[119].Height != 231 {
		t.Fatalf("%d blocks from %d on", len(list.Blocks), list.Blocks[0].Height)
	}
	if block := list.Blocks[0]; block.Milliseconds != 100 || fmt.Sprint(block.Waited) != "map[consensus:60 persistence:40]" {
		t.Errorf("the newest is %+v", block)
	}
	var timeline trace.Timeline
	if code := get(t, recent, "/350", &timeline); code != http.StatusOK || timeline.Milliseconds != 100 || len(timeline.Path) != 2 {
		t.Errorf("block 350 is %d, %+v", code, timeline)
	}
	for path, want := range map[string]int{
		"/351": http.StatusOK, "/52": http.StatusOK, "/51": http.StatusNotFound, "/2": http.StatusNotFound,
		"/352": http.StatusNotFound, "/first": http.StatusBadRequest,
	} {
		if code := get(t, recent, path, &timeline); code != want {
			t.Errorf("GET %s answers %d, want %d", path, code, want)
		}
	}
}

// What is kept can be had by when it ended, of all heights together.
func TestSpansSinceATime(t *testing.T) {
	t.Parallel()
	recent := traces.NewRecent(10_000)
	for height := uint64(1); height <= 10; height++ {
		recent.Add(spansOf(height))
	}
	// Of the block of height 8, the vote ended before.
	since := recent.Since(genesis.Add(8*time.Second + 100*time.Millisecond))
	if len(since) != 8 {
		t.Errorf("there are %d spans: %+v", len(since), since)
	}
	var none *traces.Recent
	if spans := append(none.Since(genesis), none.Of(1)...); len(spans) != 0 {
		t.Errorf("of nothing there is %+v", spans)
	}
}

// However many spans a block has, those of all blocks together are bounded.
func TestSpansAreBounded(t *testing.T) {
	t.Parallel()
	recent := traces.NewRecent(10_000)
	for height := uint64(1); height <= 5; height++ {
		for range 30_000 {
			recent.Add(spansOf(height))
		}
	}
	var list answer
	if get(t, recent, "/", &list); len(list.Blocks) != 2 || list.Blocks[1].Height != 4 {
		t.Errorf("there are %d blocks", len(list.Blocks))
	}
}

func TestNothingIsTraced(t *testing.T) {
	t.Parallel()
	var list answer
	if code := get(t, nil, "/", &list); code != http.StatusOK || list.SampleBasisPoints != 0 || list.Blocks == nil {
		t.Errorf("answers %d, %+v", code, list)
	}
	if code := get(t, nil, "/1", &list); code != http.StatusNotFound {
		t.Errorf("a height answers %d", code)
	}
}
