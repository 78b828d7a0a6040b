// SPDX-License-Identifier: Apache-2.0

package traces

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shardyard/shardyard/internal/trace"
)

// mostListed is how many blocks are listed.
const mostListed = 120

// list are the blocks that can be looked at.
type list struct {
	// SampleBasisPoints is how many of 10,000 heights are traced.
	SampleBasisPoints int32 `json:"sampleBasisPoints"`
	// Blocks are the newest first, and only those with a path: of the very newest
	// spans may still come.
	Blocks []listed `json:"blocks"`
}

type listed struct {
	Height       uint64  `json:"height"`
	Leader       string  `json:"leader"`
	Milliseconds float64 `json:"milliseconds"`
	// Waited is how long the block waited for each phase, in milliseconds.
	Waited map[trace.Phase]float64 `json:"waited"`
}

// Handler answers, with JSON, GET requests for
//
//	/          the traced blocks, the newest first
//	/HEIGHT    what the nodes did for one of them, side by side
//
// The status is 404 for a height that is not traced, not yet, or not anymore. A
// nil Recent traces nothing.
func (r *Recent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { write(w, r.list()) })
	mux.HandleFunc("GET /{height}", func(w http.ResponseWriter, request *http.Request) {
		height, err := strconv.ParseUint(request.PathValue("height"), 10, 64)
		if err != nil {
			http.Error(w, fmt.Sprintf("%q is no height", request.PathValue("height")), http.StatusBadRequest)
			return
		}
		if r == nil {
			http.Error(w, "no heights are traced", http.StatusNotFound)
			return
		}
		spans := r.Of(height)
		if len(spans) == 0 {
			http.Error(w, fmt.Sprintf("height %d is not among the newest traced ones", height), http.StatusNotFound)
			return
		}
		write(w, trace.NewTimeline(height, spans, r.Of))
	})
	return mux
}

func (r *Recent) list() list {
	answer := list{Blocks: []listed{}}
	if r == nil {
		return answer
	}
	answer.SampleBasisPoints = r.SampleBasisPoints
	for _, height := range r.heights() {
		if len(answer.Blocks) == mostListed {
			break
		}
		path, err := trace.CriticalPath(r.Of(height), r.Of)
		if err != nil {
			continue
		}
		block := listed{Height: height, Leader: path.Leader, Milliseconds: path.Duration().Seconds() * 1_000, Waited: map[trace.Phase]float64{}}
		for _, segment := range path.Segments {
			block.Waited[segment.Phase] += segment.Duration().Seconds() * 1_000
		}
		answer.Blocks = append(answer.Blocks, block)
	}
	return answer
}

func write(w http.ResponseWriter, answer any) {
	content, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Whoever does not wait for the answer does not need it.
	_, _ = w.Write(content)
}
