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
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/bench/record"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// telling is a node that tells one text after the other; an empty one is no answer.
type telling struct {
	texts []string
}

func (t *telling) Metrics(context.Context) (chain.Metrics, error) {
	text := t.texts[0]
	t.texts = t.texts[1:]
	if text == "" {
		return nil, errors.New("no answer")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(text))
}

func (t *telling) CountersOf(ctx context.Context, _ ...string) (chain.Metrics, error) {
	return t.Metrics(ctx)
}

// network is what a node tells of its bytes.
func network(sent, received int) string {
	return fmt.Sprintf(`# TYPE runtime_outbound_bandwidth counter
runtime_outbound_bandwidth_total{peer="a"} %d
runtime_outbound_bandwidth_total{peer="b"} 1
# TYPE runtime_inbound_bandwidth counter
runtime_inbound_bandwidth_total %d
`, sent, received)
}

func checks(kind string, count int) string {
	return fmt.Sprintf("shardnode_endorsements_total{result=%q} %d\n", kind, count)
}

func TestCountsOfNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		want  result.Node
	}{
		"all of it": {
			[]string{
				network(100, 10) + checks("endorsed", 3) + checks("refused", 1),
				network(350, 90) + checks("endorsed", 8) + checks("refused", 3),
			},
			result.Node{
				NetworkSentBytes: ptr.To[uint64](250), NetworkReceivedBytes: ptr.To[uint64](80),
				ChecksEndorsed: ptr.To[uint64](5), ChecksRefused: ptr.To[uint64](2),
			},
		},
		"a kind that has not happened": {
			[]string{network(100, 10), network(100, 10) + checks("endorsed", 8)},
			result.Node{
				NetworkSentBytes: new(uint64), NetworkReceivedBytes: new(uint64),
				ChecksEndorsed: ptr.To[uint64](8), ChecksRefused: new(uint64),
			},
		},
		"no bytes": {
			[]string{checks("endorsed", 8), checks("endorsed", 8)},
			result.Node{ChecksEndorsed: new(uint64), ChecksRefused: new(uint64)},
		},
		"began anew":   {[]string{network(100, 10), network(1, 11)}, result.Node{NetworkReceivedBytes: ptr.To[uint64](1)}},
		"not answered": {[]string{network(100, 10), ""}, result.Node{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := newRecorder()
			// The other one tells, whatever becomes of this one.
			other := telling{texts: []string{network(0, 0), network(7, 8)}}
			tellers := []record.Teller{{Name: "n", Metrics: &telling{texts: test.texts}}, {Name: "o", Metrics: &other}}
			for second := range 20 {
				if err := recorder.Block(block(uint64(second), int64(second))); err != nil {
					t.Fatal(err)
				}
				row := sample(second)
				for _, name := range []string{"n", "o"} {
					row.Nodes = append(row.Nodes, record.Node{Validator: topology.Validator{Name: name, Role: topology.RoleChunkValidator}})
				}
				recorder.Sample(row)
				recorder.Count(t.Context(), began.Add(time.Duration(second)*time.Second), tellers)
			}
			test.want.Name, test.want.Role = "n", "chunkValidator"
			want := []result.Node{test.want, {
				Name: "o", Role: "chunkValidator", NetworkSentBytes: ptr.To[uint64](7), NetworkReceivedBytes: ptr.To[uint64](8),
			}}
			if got := recorder.Run("").Nodes; !reflect.DeepEqual(got, want) {
				t.Errorf("the nodes are %+v, want %+v", got, want)
			}
		})
	}
}
