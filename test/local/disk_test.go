// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/waiting"
)

// Of the test's network. A producer lets go of bodies when it makes a snapshot,
// and by the file.
const (
	retention        = 30
	snapshotInterval = 10
	heightsPerFile   = 64
)

// loseDisk takes the data directory of a producer away and kills it, when the
// first bodies are no longer kept. It starts on an empty disk, and comes back
// to the state roots that the chain commits to by way of another's state.
func (o *observer) loseDisk(t *testing.T) {
	t.Helper()
	const victim, other = 1, 0
	o.eventually(t, "the first bodies are not kept any more", func(statuses []*chain.Status) bool {
		status := statuses[other]
		return status != nil && status.FinalizedHeight > heightsPerFile+retention+3*snapshotInterval
	})
	o.startOver(t, victim)
	if got := o.snapshotsInstalled(t, victim); got == "0" {
		t.Errorf("%s installed no snapshot", o.validators[victim].Name)
	}
}

// dataOf is where a validator keeps what it has.
func (o *observer) dataOf(validator validatorProcess) string {
	return filepath.Join(o.network.stateDir, "small", "nodes", validator.Name, "data")
}

// takeDisk takes the data directory of a validator away. It does nothing from then on
// until it is killed, and then starts on an empty disk: if it went on, it might make a
// file where the directory was.
func (o *observer) takeDisk(t *testing.T, victim int) {
	t.Helper()
	validator := o.validators[victim]
	if err := syscall.Kill(validator.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// On a busy machine, its threads stop some time after the signal.
	waiting.Until(t, validator.Name+" stops", func() bool { return stopped(t, validator.PID) })
	data := o.dataOf(validator)
	if err := os.Rename(data, data+".lost"); err != nil {
		t.Fatal(err)
	}
}

// startOver kills a validator whose disk is taken away, and waits until it is back.
func (o *observer) startOver(t *testing.T, victim int) {
	t.Helper()
	height := o.highest(t)
	o.takeDisk(t, victim)
	o.killAt(t, height, victim)
}

var snapshotsInstalled = regexp.MustCompile(`(?m)^shardnode_snapshots_installed_total\{[^}]*\} (\d+)$`)

// snapshotsInstalled is how many fetched states a validator went on from.
func (o *observer) snapshotsInstalled(t *testing.T, validator int) string {
	t.Helper()
	url := "http://" + o.validators[validator].HTTP + "/metrics"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := snapshotsInstalled.FindSubmatch(metrics)
	if found == nil {
		t.Fatalf("%s does not say how many snapshots it installed", url)
	}
	return string(found[1])
}
