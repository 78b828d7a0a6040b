// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/dashboards"
)

const (
	alertsNamespace = "alerts"

	// leeway is how much later than its rule says an alert may be raised on a
	// machine that is busy: a rule may wait anew after a scrape that is missed. A
	// node hangs for all of it: its machine ends it after a minute without an
	// answer and half a minute to stop.
	leeway = time.Minute
)

// The alerts of what these tests do to networks, and when each is to be raised at the
// latest by its rule in the chart: what it looks back at and what it waits for.
var (
	shardWithoutChunks = alert{"ShardyardShardWithoutChunks", 4 * time.Minute}
	noBlockFinalised   = alert{"ShardyardNoBlockFinalised", 3 * time.Minute}
	diskFull           = alert{"ShardyardDiskFull", time.Minute}
	memberClusterLost  = alert{"ShardyardMemberClusterLost", 5 * time.Minute}
)

// alert is one of the alerts of the operator's chart.
type alert struct {
	name   string
	window time.Duration
}

// testAlerts has a network with one producer for each shard lose a shard, and then
// its quorum. It waits most of the time, so other parts run beside it.
func (c *cluster) testAlerts(t *testing.T) {
	t.Parallel()
	c.newNamespace(t, alertsNamespace, "restricted")
	spec := newSpec()
	spec.Shards, spec.Regions[0].Nodes = 4, 4
	// Three of four producers endorse the chunks of all shards that have one.
	spec.Protocol.MandatesPerShard = 64
	n := c.create(t, alertsNamespace, "ill", &spec)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	prometheus := startPrometheus(t, scraping{
		Namespace: n.namespace, Nodes: n.addresses(t), Reporter: c.report(t), Rules: hurriedRules(t),
	})
	checkRules(t, prometheus)
	validators := n.plan(t).Nodes
	// Of a network that was not there before, a rate takes two scrapes, and what most
	// nodes say takes most of them.
	eventually(t, "the block time of the network", func(ctx context.Context) error {
		query := dashboards.Query{
			Panel: "rules", Legend: "block time", Instant: true,
			Expression: `shardyard:block_time_seconds:mean1h{namespace="` + n.namespace + `"}`,
		}
		found, err := prometheus.HasData(ctx, query)
		if err == nil && !found {
			err = fmt.Errorf("%s has no answer", query)
		}
		return err
	})

	t.Run("silent shard", func(t *testing.T) {
		silent := validators[1]
		about := map[string]string{
			"namespace": n.namespace, "network": n.name, "shard": fmt.Sprint(silent.Shard),
		}
		n.testAlert(t, prometheus, shardWithoutChunks, about, silent)
	})
	t.Run("outage", func(t *testing.T) {
		n.testAlert(t, prometheus, noBlockFinalised, n.labels(), validators[0], validators[1])
	})
	n.remove(t)
	n.waitForEnd(t)
}

// testAlert has some validators hang: within its window, an alert about this is
// raised, and it clears when they go on.
func (n *network) testAlert(
	t *testing.T, prometheus *dashboards.Prometheus, alert alert, about map[string]string, hang ...topology.Validator,
) {
	t.Helper()
	alert.untilCleared(t, prometheus, about)
	pods := n.mustPods(t)
	var hanging []frozen
	for _, validator := range hang {
		hanging = append(hanging, freeze(t, pods[resources.PodName(validator.Name)]))
	}
	alert.untilRaised(t, prometheus, about)
	for _, one := range hanging {
		one.thaw(t)
	}
	alert.untilCleared(t, prometheus, about)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
}

// labels are those of alerts about the network as a whole.
func (n *network) labels() map[string]string {
	return map[string]string{"namespace": n.namespace, "network": n.name}
}

// checkRules waits until all rules of the chart were evaluated, none with an error.
func checkRules(t *testing.T, prometheus *dashboards.Prometheus) {
	t.Helper()
	eventually(t, "all rules to be evaluated", func(ctx context.Context) error {
		rules, err := prometheus.EvaluatedRules(ctx)
		if err != nil {
			return err
		}
		if len(rules.Recording)+len(rules.Alerting) == 0 {
			return errors.New("there are none")
		}
		if others := append(rules.Of(v1.RuleHealthUnknown), rules.Of(v1.RuleHealthBad)...); len(others) > 0 {
			return errors.New(others[0])
		}
		return nil
	})
}

// untilRaised waits until the alert about this fires, for no longer than its rule
// says, hurried.
func (a alert) untilRaised(t *testing.T, prometheus *dashboards.Prometheus, about map[string]string) {
	t.Helper()
	began := time.Now()
	within(t, a.window/hurry+leeway, fmt.Sprintf("%s about %v to fire", a.name, about), func(ctx context.Context) error {
		return a.expect(ctx, prometheus, about, true)
	})
	t.Logf("%s fires after %s", a.name, time.Since(began).Round(time.Second))
}

// untilCleared waits until it does not.
func (a alert) untilCleared(t *testing.T, prometheus *dashboards.Prometheus, about map[string]string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s about %v to be cleared", a.name, about), func(ctx context.Context) error {
		return a.expect(ctx, prometheus, about, false)
	})
}

func (a alert) expect(ctx context.Context, prometheus *dashboards.Prometheus, about map[string]string, want bool) error {
	firing, err := prometheus.Firing(ctx, a.name)
	if err != nil {
		return err
	}
	fires := false
	for _, labels := range firing {
		same := true
		for label, value := range about {
			same = same && labels[model.LabelName(label)] == model.LabelValue(value)
		}
		fires = fires || same
	}
	if fires != want {
		return fmt.Errorf("that it fires is %t; it fires about %v", fires, firing)
	}
	return nil
}
