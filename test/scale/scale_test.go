// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/test/standin"
)

// scale is one run: a cluster, the operator on it, and the figures so far.
type scale struct {
	size     size
	cluster  *cluster
	operator *operator
	// nodes are those of all networks.
	nodes   *standin.StandIn
	figures figures
}

func TestScale(t *testing.T) {
	// What the stand-in has to say.
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	s := newScale(t, published)

	machines, standIn := standIn(t, s.cluster.config)
	s.nodes = machines
	// Each step goes on where the one before ended.
	passed := t.Run("Create", s.create) &&
		t.Run("SettledWithoutChain", func(t *testing.T) {
			s.figures["writesPerMinuteWithoutChain"] = s.writesPerMinute(t, time.Minute)
		}) &&
		t.Run("Ready", func(t *testing.T) {
			standIn()
			s.becomesReady(t)
		}) &&
		t.Run("SettledWithChain", func(t *testing.T) {
			s.figures["writesPerMinuteWithChain"] = s.writesPerMinute(t, 2*time.Minute)
		}) &&
		t.Run("Remove", s.remove) &&
		t.Run("Benchmark", s.benchmark) &&
		t.Run("Kills", s.kills)
	s.end(t, passed)
}

// TestLarge is about the most validators that a network may have.
func TestLarge(t *testing.T) {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	s := newScale(t, largest)
	_, standIn := standIn(t, s.cluster.config)
	passed := t.Run("Create", s.create) &&
		t.Run("Ready", func(t *testing.T) {
			standIn()
			s.becomesReady(t)
		}) &&
		t.Run("SettledWithChain", func(t *testing.T) {
			s.figures["writesPerMinuteWithChain"] = s.writesPerMinute(t, time.Minute)
		}) &&
		t.Run("Remove", s.remove)
	s.end(t, passed)
}

// newScale starts the cluster and the operator.
func newScale(t *testing.T, size size) *scale {
	t.Helper()
	// Before anything starts that takes time.
	program(t, "HELM")
	program(t, "OPERATOR")
	s := &scale{size: size, cluster: startCluster(t, place{
		name:     "scale",
		pods:     "127.64.0.0/10",
		regions:  "us-central1,us-east1,us-east4",
		machines: size.validators,
	}), figures: figures{}}
	s.operator = s.cluster.installOperator(t)
	s.operator.start(t)
	return s
}

// end prints the figures of a run and, if all of it passed, checks them.
func (s *scale) end(t *testing.T, passed bool) {
	t.Helper()
	known := readRanges(t, s.size.ranges)
	s.figures.print(t, known)
	if !passed {
		return
	}
	s.operator.stop(t)
	for _, refusal := range s.operator.refusals(t) {
		t.Errorf("the operator was refused something: %s", refusal)
	}
	s.figures.check(t, known)
}

// standIn returns nodes, and what has the pods' addresses answer as they do, from
// when it is called until the test ends.
func standIn(t *testing.T, configs ...*rest.Config) (nodes *standin.StandIn, start func()) {
	t.Helper()
	nodes = standin.New()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	started := false
	t.Cleanup(func() {
		cancel()
		if !started {
			return
		}
		if err := <-ended; err != nil {
			t.Errorf("stand-in: %v", err)
		}
	})
	return nodes, func() {
		started = true
		go func() { ended <- nodes.Serve(ctx, configs...) }()
	}
}
