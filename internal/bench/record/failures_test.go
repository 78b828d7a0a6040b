// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// failing is a node of which so many more transfers fail each time that it is asked.
type failing struct {
	scale int
	asked int
	// fails is which time it does not answer.
	fails int
}

func (f *failing) Metrics(ctx context.Context) (chain.Metrics, error) {
	return f.CountersOf(ctx, result.FailuresMetric, result.RefusalsMetric)
}

func (f *failing) CountersOf(context.Context, ...string) (chain.Metrics, error) {
	if f.asked++; f.asked == f.fails {
		return nil, errors.New("no answer")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(fmt.Sprintf(`shardnode_produced_failures_total{node="n",reason="nonce"} %[1]d
shardnode_pool_rejected_total{node="n",reason="full"} %[2]d
shardnode_pool_rejected_total{node="n",reason="shard"} 0
`, f.scale*f.asked, 2*f.scale*f.asked)))
}

// failed has nodes that clients send to sampled and counted every second until the
// measurement ends, and returns the record. A silent node does not tell its status in the 8th second.
func failed(t *testing.T, nodes ...*failing) result.Run {
	t.Helper()
	recorder := newRecorder()
	tellers := make([]record.Teller, len(nodes))
	for i, told := range nodes {
		tellers[i] = record.Teller{Name: fmt.Sprintf("n%d", i), Metrics: told}
	}
	for second := range 16 {
		made := sample(second, node("p", topology.RoleProducer, uint64(second), 0, used(0, 0, 0)))
		made.ByClients = true
		if second == 8 {
			made.Nodes[0].Status = nil
		}
		recorder.Sample(made)
		recorder.Count(t.Context(), began.Add(time.Duration(second)*time.Second), tellers)
	}
	return recorder.Run("")
}

// With each sample, all nodes together say why transfers failed; in one in which a node
// says nothing of itself, nobody is asked, and where one does not answer, nobody knows.
func TestFailures(t *testing.T) {
	t.Parallel()
	first, second := &failing{scale: 10, fails: 4}, &failing{scale: 1}
	run := failed(t, first, second)
	times := 0
	for second := range run.Samples {
		if second != 8 {
			times++
		}
		var want *result.Failures
		if second != 8 && second != 3 {
			want = &result.Failures{
				Failed:  map[string]uint64{"nonce": 11 * uint64(times)},
				Refused: map[string]uint64{"full": 22 * uint64(times)},
			}
		}
		if got := run.Samples[second].Failures; !reflect.DeepEqual(got, want) {
			t.Errorf("in second %d, the failures are %+v, want %+v", second, got, want)
		}
	}
	if first.asked != 15 || second.asked != 15 {
		t.Errorf("the nodes were asked %d and %d times, want once for each sample but one", first.asked, second.asked)
	}
}

// Many nodes are asked less often, but for the edges of the measurement: no more than
// 32 in a second.
func TestFailuresOfManyNodes(t *testing.T) {
	t.Parallel()
	nodes := make([]*failing, 65)
	for i := range nodes {
		nodes[i] = &failing{scale: 1}
	}
	run := failed(t, nodes...)
	var known []int
	for second := range run.Samples {
		if run.Samples[second].Failures != nil {
			known = append(known, second)
		}
	}
	if want := []int{0, 3, 5, 7, 10, 13, 15}; !reflect.DeepEqual(known, want) {
		t.Errorf("failures are known in the seconds %v, want %v", known, want)
	}
}

// Where producers sign the load, nodes are asked why transfers failed once more of them
// did, and not before.
func TestFailuresThatAreKnown(t *testing.T) {
	t.Parallel()
	recorder, asked := newRecorder(), &failing{scale: 1}
	refused := []uint64{0, 0, 4, 4, 4, 5, 5}
	times := []uint64{1, 1, 2, 2, 2, 3, 3}
	for second, refused := range refused {
		made := sample(second, node("p", topology.RoleProducer, uint64(second), 0, used(0, 0, 0)))
		made.Nodes[0].Status.Load = &chain.Load{Rejected: refused}
		recorder.Sample(made)
		recorder.Count(t.Context(), began.Add(time.Duration(second)*time.Second), []record.Teller{{Name: "p", Metrics: asked}})
	}
	for second, sample := range recorder.Run("").Samples {
		want := &result.Failures{
			Failed:  map[string]uint64{"nonce": times[second]},
			Refused: map[string]uint64{"full": 2 * times[second]},
		}
		if !reflect.DeepEqual(sample.Failures, want) {
			t.Errorf("in second %d, the failures are %+v, want %+v", second, sample.Failures, want)
		}
	}
	if asked.asked != 3 {
		t.Errorf("the node was asked %d times, want 3", asked.asked)
	}
}
