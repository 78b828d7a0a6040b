// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

// censusAge is how old a sample may be that is shown. However many ask, the
// validators are asked once in this time.
const censusAge = 500 * time.Millisecond

// census asks the validators for those who look at a network.
type census struct {
	network *v1alpha1.ShardNetwork
	// interval is how often the validators are scraped.
	interval    time.Duration
	supervisors []*supervision.Supervisor

	mu     sync.Mutex
	sample bench.Sample
	taken  time.Time
}

// newest is what the validators said last.
func (c *census) newest(ctx context.Context) bench.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.taken) >= censusAge {
		// Others get it too, should this one not wait for it.
		c.sample = supervision.SampleAll(context.WithoutCancel(ctx), c.supervisors)
		c.taken = time.Now()
	}
	return c.sample
}

// newestNode is a client of a validator that has the highest finalised block, and
// the height of that block; nil while none answers.
func (c *census) newestNode(ctx context.Context) (client *chain.Client, finalized uint64) {
	for i, node := range c.newest(ctx).Nodes {
		if node.Status != nil && (client == nil || node.Status.FinalizedHeight > finalized) {
			client, finalized = c.supervisors[i].Client, node.Status.FinalizedHeight
		}
	}
	return client, finalized
}

// finalized is the newest block of each validator that answers, by its name.
func (c *census) finalized(ctx context.Context) map[string]uint64 {
	heights := map[string]uint64{}
	for _, node := range c.newest(ctx).Nodes {
		if node.Status != nil {
			heights[node.Name] = node.Status.FinalizedHeight
		}
	}
	return heights
}

// serveNetwork answers with the view of the network.
func (c *census) serveNetwork(w http.ResponseWriter, r *http.Request) {
	shown := newView(c.network, c.supervisors, c.newest(r.Context()))
	shown.ScrapeIntervalSeconds = c.interval.Seconds()
	writeAnswer(w, shown)
}

// writeAnswer answers with a value in JSON. Whoever does not wait for it does not
// need it.
func writeAnswer(w http.ResponseWriter, value any) {
	content, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content)
}
