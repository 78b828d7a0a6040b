// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// mostUsers each send a transfer in a second.
const mostUsers = 20

// testUsers has users send the load of a benchmark through an rpc node, in two numbers
// one after the other.
func (c *cluster) testUsers(t *testing.T) {
	t.Parallel()
	b := c.newBenchmarkOf(t, "users", newUserSpec())
	b.untilEnded(t, v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded)
	status := &b.Status
	if len(status.Runs) != 1 || status.Runs[0].TransfersPerSecond == nil || *status.Runs[0].TransfersPerSecond < mostUsers/2 ||
		*status.Runs[0].TransfersPerSecond > 2*mostUsers {
		t.Errorf("the runs are %+v, want one that executes about %d transfers per second", status.Runs, mostUsers)
	}
	for _, name := range []v1alpha1.BenchmarkFigure{
		v1alpha1.FigureClientSuccessPercent, v1alpha1.FigureClientLatencyP99Milliseconds, v1alpha1.FigureClientExecutedOfBestPercent,
	} {
		if !slices.ContainsFunc(status.Figures, func(figure v1alpha1.BenchmarkFigureStatus) bool { return figure.Figure == name }) {
			t.Errorf("%s is not known: %+v", name, status.Figures)
		}
	}
	b.remove(t)
}

// testLoaderKilled kills the loader of a run, which then does not count.
func (c *cluster) testLoaderKilled(t *testing.T) {
	t.Parallel()
	b := c.newBenchmarkOf(t, "unloaded", newUserSpec())
	eventually(t, "the recorder of "+b.Name, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := b.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: resources.RecorderName(b.Name, 1)}, pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %+v", pod.Status)
		}
		return nil
	})
	killLoader(t, b.Name)
	b.untilEnded(t, v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken)
	if run := &b.Status.Runs[0]; !strings.Contains(run.Fault, "loader") || run.TransfersPerSecond != nil || len(b.Status.Figures) > 0 {
		t.Errorf("the run is %+v, with the figures %+v", run, b.Status.Figures)
	}
	b.remove(t)
}

// newUserSpec is a benchmark of users who take about as long as one step of a benchmark
// takes.
func newUserSpec() v1alpha1.BenchmarkSpec {
	spec := newBenchmarkSpec(1)
	network := &spec.Network.Template.Spec
	network.ProducersPerShard, network.RPCNodes = 1, 1
	spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileOpenLoop,
		OpenLoop: &v1alpha1.OpenLoopLoad{
			EveryMilliseconds: 1000, Steps: []v1alpha1.OpenLoopStep{{Users: mostUsers / 4}, {Users: mostUsers}},
		},
	}
	spec.WarmUpSeconds, spec.DurationSeconds = ptr.To[int32](2), 5
	spec.Criteria = []v1alpha1.BenchmarkCriterion{
		{Figure: v1alpha1.FigureClientSuccessPercent, AtLeast: ptr.To(resource.MustParse("90"))},
	}
	return spec
}

// killLoader ends the loader beside the recorder of a network: the container, and with
// it what it runs.
func killLoader(t *testing.T, network string) {
	t.Helper()
	killed := 0
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		// Others come and go.
		command, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(command, []byte("\x00serve-loader\x00")) {
			continue
		}
		folder := filepath.Dir(path)
		genesis, err := os.ReadFile(filepath.Join(folder, "root/etc/shardyard-genesis/genesis.json"))
		if err != nil || !bytes.Contains(genesis, []byte(strconv.Quote(network))) {
			continue
		}
		process, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(process, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		killed++
	}
	if killed != 1 {
		t.Errorf("%d loaders of %s were killed, want 1", killed, network)
	}
}
