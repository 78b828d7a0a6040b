// SPDX-License-Identifier: Apache-2.0

package profiling_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/profiling"
)

// content is a profile with one sample, as a node makes it.
func content(node, function string) *profile.Profile {
	fn := &profile.Function{ID: 1, Name: function}
	location := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn}}}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:     4_000_000,
		Comments:   []string{"node: " + node},
		Function:   []*profile.Function{fn},
		Location:   []*profile.Location{location},
		Sample: []*profile.Sample{{
			Location: []*profile.Location{location}, Value: []int64{3, 12_000_000},
			Label: map[string][]string{"node": {node}},
		}},
	}
}

// node takes a profile in three looks at it, unless something is wrong.
type node struct {
	name string
	// busy takes one already, unheard begins one and does not say so, silent answers nothing
	// once it has begun, forgetful was started again, and failing says why it took none.
	busy, unheard, silent, forgetful bool
	failing                          string
	garbage                          bool

	looks int
	ended bool
}

var errSilent = errors.New("connection refused")

func (n *node) BeginProfile(context.Context, chain.ProfileWanted) error {
	if n.busy {
		return &chain.ResponseError{StatusCode: http.StatusConflict, Message: "there is one at a time"}
	}
	if n.unheard {
		return errSilent
	}
	return nil
}

func (n *node) Profile(ctx context.Context) (*chain.Profile, error) {
	n.looks++
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case n.silent:
		return nil, errSilent
	case n.forgetful:
		return nil, nil
	case n.looks < 3:
		return &chain.Profile{Stage: chain.ProfileSampling}, nil
	case n.failing != "":
		return &chain.Profile{Stage: chain.ProfileFailed, Reason: n.failing}, nil
	default:
		return &chain.Profile{Stage: chain.ProfileReady, FirstHeight: uint64(n.looks) + 4, Samples: 3}, nil
	}
}

func (n *node) ProfileContent(context.Context) ([]byte, error) {
	if n.garbage {
		return []byte("no profile"), nil
	}
	var file bytes.Buffer
	err := content(n.name, "execute").Write(&file)
	return file.Bytes(), err
}

func (n *node) EndProfile(ctx context.Context) error {
	n.ended = ctx.Err() == nil
	return nil
}

func TestTake(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		node  node
		error string
	}{
		"taken":          {node{}, ""},
		"takes one":      {node{busy: true}, "node a takes no profile: 409 Conflict: there is one at a time"},
		"does not say":   {node{unheard: true}, "node a takes no profile: connection refused"},
		"fails":          {node{failing: "no block was finalised within 60 s"}, "node a took no profile: no block was finalised within 60 s"},
		"starts again":   {node{forgetful: true}, "node a has no profile any more: it was started again, or somebody ended it"},
		"hangs":          {node{silent: true}, "node a does not answer while it takes a profile: connection refused"},
		"sends no pprof": {node{garbage: true}, "read the profile of node a: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				node := test.node
				node.name = "a"
				taken, err := profiling.Take(t.Context(), "a", &node, chain.ProfileWanted{Blocks: 1})
				if test.error != "" {
					if err == nil || !strings.HasPrefix(err.Error(), test.error) || taken != nil {
						t.Errorf("the error is %v, want %s", err, test.error)
					}
				} else if err != nil || taken.Status.FirstHeight != 7 || taken.Content.Sample[0].Value[0] != 3 {
					t.Errorf("takes %+v (%v)", taken, err)
				}
				// A profile of somebody else is left alone.
				if node.ended == node.busy {
					t.Errorf("the node was told to end it: %t", node.ended)
				}
			})
		})
	}
}

// Whoever does not want to wait leaves nothing behind.
func TestTakeIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		node := node{name: "a"}
		if _, err := profiling.Take(ctx, "a", &node, chain.ProfileWanted{Seconds: 60}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if !node.ended {
			t.Error("the node goes on")
		}
	})
}

// One node that fails does not cost the profiles of others.
func TestTakeAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c"}
		nodes := []profiling.Node{&node{name: "a"}, &node{name: "b", failing: "broken"}, &node{name: "c"}}
		taken, err := profiling.TakeAll(t.Context(), names, nodes, chain.ProfileWanted{Seconds: 1})
		if err == nil || err.Error() != "node b took no profile: broken" {
			t.Errorf("the error is %v", err)
		}
		if len(taken) != 2 || taken[0].Node != "a" || taken[1].Node != "c" {
			t.Errorf("takes %+v", taken)
		}
	})
}

func TestMerge(t *testing.T) {
	t.Parallel()
	merged, err := profiling.Merge([]*profiling.Taken{
		{Node: "a", Content: content("a", "execute")}, {Node: "b", Content: content("b", "execute")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, sample := range merged.Sample {
		nodes = append(nodes, sample.Label["node"]...)
	}
	if slices.Sort(nodes); !slices.Equal(nodes, []string{"a", "b"}) || len(merged.Function) != 1 {
		t.Errorf("samples are of nodes %q, and %d functions", nodes, len(merged.Function))
	}
	if !slices.Contains(merged.Comments, "node: a") || !slices.Contains(merged.Comments, "node: b") {
		t.Errorf("comments are %q", merged.Comments)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	first := &profiling.Taken{Node: "net-s0-p0", Status: chain.Profile{FirstHeight: 12}}
	second := &profiling.Taken{Node: "net-s0-p1", Status: chain.Profile{FirstHeight: 11}}
	if got := profiling.Name("net", []*profiling.Taken{first}); got != "profile-net-net-s0-p0-12" {
		t.Errorf("one is called %s", got)
	}
	if got := profiling.Name("net", []*profiling.Taken{first, second}); got != "profile-net-merged-11" {
		t.Errorf("two are called %s", got)
	}
	first.Status.Kind = chain.ProfileAllocations
	if got := profiling.Name("net", []*profiling.Taken{first}); got != "allocations-net-net-s0-p0-12" {
		t.Errorf("one of allocations is called %s", got)
	}
}

// The page has what it shows, and asks nobody for more; the file is one of pprof.
func TestWrite(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "profiles")
	const function = "shardnode_execution::execute::<State>"
	paths, err := profiling.Write(folder, "profile-net-a-12", content("a", function))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(folder, "profile-net-a-12.pb.gz"), filepath.Join(folder, "profile-net-a-12.html")}
	if !slices.Equal(paths, want) {
		t.Fatalf("writes %q, want %q", paths, want)
	}
	file, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	read, err := profile.Parse(bytes.NewReader(file))
	if err != nil || !bytes.HasPrefix(file, []byte{0x1f, 0x8b}) || read.Function[0].Name != function {
		t.Errorf("the file is %v (%v)", read, err)
	}
	page, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stackViewer({", "shardnode_execution::execute", ".menu-item, #action-menu { display: none; }"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, unwanted := range []string{"<script src", "<link ", "@import"} {
		if bytes.Contains(page, []byte(unwanted)) {
			t.Errorf("the page has %q", unwanted)
		}
	}
}

// A profile of allocations has a page by their bytes, and another by their number.
func TestWriteAllocations(t *testing.T) {
	t.Parallel()
	allocations := content("a", "execute")
	allocations.SampleType = []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	allocations.DefaultSampleType = "alloc_space"
	paths, err := profiling.Write(t.TempDir(), "allocations", allocations)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 3 || !strings.HasSuffix(paths[1], "/allocations.html") || !strings.HasSuffix(paths[2], "/allocations-objects.html") {
		t.Fatalf("writes %q", paths)
	}
	// What is written next is not by what was written last.
	for _, by := range []struct{ path, unit string }{{paths[1], `"Unit":"B"`}, {paths[2], `"Unit":""`}} {
		page, err := os.ReadFile(by.path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, []byte(by.unit)) {
			t.Errorf("%s has no %s", by.path, by.unit)
		}
	}
	if paths, err := profiling.Write(t.TempDir(), "profile", content("a", "execute")); err != nil || len(paths) != 2 {
		t.Errorf("of CPU time it writes %q (%v)", paths, err)
	}
}

// A node that did nothing has a profile as well.
func TestWriteWithoutSamples(t *testing.T) {
	t.Parallel()
	empty := content("a", "execute")
	empty.Sample = nil
	if paths, err := profiling.Write(t.TempDir(), "profile", empty); err != nil || len(paths) != 2 {
		t.Errorf("writes %q (%v)", paths, err)
	}
}
