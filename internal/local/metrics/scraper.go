// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/scrape"
)

const (
	// job is the name of what is scraped, and of the label that says so.
	job = "shardnode"

	// startInterval is how often the scraper looks whether it has been told what
	// to scrape.
	startInterval = 200 * time.Millisecond
)

// scrapeConfig says how nodes are scraped, each within the interval and at most
// so many bytes and series. Of these, only the ones of the node contract are
// kept: a node's libraries export many times as many.
const scrapeConfig = `
global:
  scrape_interval: %[1]s
  scrape_timeout: %[1]s
scrape_configs:
  - job_name: %[2]s
    honor_labels: true
    body_size_limit: 16MB
    sample_limit: 20000
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: shardnode_.*
        action: keep
`

// Target is a node that is scraped.
type Target struct {
	// Address is HOST:PORT of its HTTP API.
	Address string
	// Network, Region and Node are labels of its series.
	Network, Region, Node string
}

// Scraper scrapes nodes until it is stopped.
type Scraper struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// StartScraper begins to scrape nodes into a store. It ends when it is stopped or
// the context is done; the store has to stay open for as long.
func StartScraper(ctx context.Context, store *Store, targets []Target, interval time.Duration) (*Scraper, error) {
	options := &scrape.Options{DiscoveryReloadInterval: model.Duration(startInterval)}
	manager, err := scrape.NewManager(options, silent(), nil, store.db, prometheus.NewRegistry())
	if err != nil {
		return nil, fmt.Errorf("make the scraper: %w", err)
	}
	settings, err := config.Load(fmt.Sprintf(scrapeConfig, model.Duration(interval), job), silent())
	if err != nil {
		return nil, fmt.Errorf("make the settings of the scraper: %w", err)
	}
	if err := manager.ApplyConfig(settings); err != nil {
		return nil, fmt.Errorf("configure the scraper: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	scraper := &Scraper{stop: cancel}
	found := make(chan map[string][]*targetgroup.Group, 1)
	found <- map[string][]*targetgroup.Group{job: groups(targets)}
	// It returns when it is stopped, and then without an error.
	scraper.running.Go(func() { _ = manager.Run(found) })
	scraper.running.Go(func() {
		<-ctx.Done()
		manager.Stop()
	})
	return scraper, nil
}

// Stop ends all scrapes.
func (s *Scraper) Stop() {
	s.stop()
	s.running.Wait()
}

func groups(targets []Target) []*targetgroup.Group {
	groups := make([]*targetgroup.Group, 0, len(targets))
	for _, target := range targets {
		groups = append(groups, &targetgroup.Group{
			Source:  target.Node,
			Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(target.Address)}},
			Labels: model.LabelSet{
				"network": model.LabelValue(target.Network),
				"region":  model.LabelValue(target.Region),
				"node":    model.LabelValue(target.Node),
			},
		})
	}
	return groups
}
