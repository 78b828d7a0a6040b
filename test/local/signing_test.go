// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/test/waiting"
)

// What is signed before is executed under load as it is when it is signed live, and the
// result says so.
func TestBenchRunOfTransfersSignedBefore(t *testing.T) {
	t.Parallel()
	folder, made := benchmarked(t, "testdata/signed-before.yaml")
	run := &made.Runs[0]
	// A second of 100, and 200 for the warm-up, the measurement, and ten seconds more.
	const want = 100 + 200*16
	if run.Fault != "" || run.SignedBefore != want {
		t.Errorf("%d transfers were signed before, want %d, and the fault is %q", run.SignedBefore, want, run.Fault)
	}
	note := "3300 transfers were signed before the load began: what is measured of the nodes is without signing"
	if !slices.Contains(run.Notes, note) {
		t.Errorf("the notes are %q, want %q", run.Notes, note)
	}
	samples := run.MeasuredSamples()
	last := &samples[len(samples)-1]
	if last.Exhausted == nil || *last.Exhausted != 0 || last.Signed == nil || *last.Signed == 0 || *last.Signed >= want {
		t.Errorf("at the end of the measurement the generators say %+v", last)
	}
	if stdout, code := shardyard(t, "report", "show", folder); code != 0 || !strings.Contains(stdout, note) {
		t.Errorf("report show exits with %d and prints\n%s", code, stdout)
	}
}

// A fixed count is measured from the beginning of the load to the block with the last of
// it, of which nothing is missing and nothing added, whatever it leaves when it is divided.
func TestBenchRunOfAFixedCount(t *testing.T) {
	t.Parallel()
	folder, made := benchmarked(t, "testdata/fixed-count.yaml")
	run, variant := &made.Runs[0], made.Candidate()
	const want = 997
	if count := run.FixedCount; run.Fault != "" || run.SignedBefore != want || count == nil || count.LastHeight == 0 ||
		*count != (result.FixedCount{Transfers: want, Executed: want, LastHeight: count.LastHeight}) {
		t.Fatalf("%d transfers were signed before, and came to %+v, with the fault %q", run.SignedBefore, count, run.Fault)
	}
	seconds := completion(t, run, want)
	for figure, want := range map[v1alpha1.BenchmarkFigure]float64{
		v1alpha1.FigureCompletionSeconds: seconds, v1alpha1.FigureExecutedPerSecond: want / seconds,
	} {
		if got := variant.FigureOf(figure); got == nil || math.Abs(got.Value-want) > 1e-6*want {
			t.Errorf("%s is %+v, want %f", figure, got, want)
		}
	}
	if stdout, code := shardyard(t, "report", "show", folder); code != 0 || !strings.Contains(stdout, "CompletionSeconds") {
		t.Errorf("report show exits with %d and prints\n%s", code, stdout)
	}
}

// benchmarked runs a benchmark that has to succeed. It returns its folder and its result.
func benchmarked(t *testing.T, manifest string) (folder string, made *result.Result) {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "result")
	stdout, code := shardyard(t, "bench", "run", "-f", manifest, "--artifact", folder, "--shardnode", programs.shardnode)
	if code != 0 {
		t.Fatalf("exits with %d and says\n%s", code, stdout)
	}
	if made, err = artifact.Read(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	return folder, made
}

// completion is how long after the beginning of the load the last measured block was
// made, which has to have the last of so many transfers.
func completion(t *testing.T, run *result.Run, transfers uint64) (seconds float64) {
	t.Helper()
	var executed uint64
	measured := run.MeasuredBlocks()
	for i := range measured {
		executed += measured[i].Executed
	}
	last := &measured[len(measured)-1]
	if executed != transfers || last.Height != run.FixedCount.LastHeight || last.Executed == 0 {
		t.Errorf("the measured blocks have %d transfers, and the last one is %+v", executed, last)
	}
	return float64(last.TimestampMs-run.LoadBeganMs) / 1000
}

// Producers execute exactly what they signed before, and then say that there is no
// more; nothing is lost of it, and nothing made.
func TestTransfersSignedBeforeAreUsedUp(t *testing.T) {
	t.Parallel()
	network := up(t, t.TempDir(), "-f", withoutLoad(t))
	network.says(t, "genesis hash ")
	observer := watch(t, network)
	var producers []*chain.Client
	for i, status := range observer.ask(t) {
		if status != nil && status.Load != nil {
			producers = append(producers, network.admin(t, observer.validators[i].Name))
		}
	}
	if len(producers) != 4 {
		t.Fatalf("%d nodes have a generator, want 4", len(producers))
	}
	const each = 150
	for _, producer := range producers {
		signsBefore(t, producer, each)
	}
	for _, producer := range producers {
		if _, err := producer.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 50, Signing: chain.SigningBefore}); err != nil {
			t.Fatal(err)
		}
	}
	observer.eventually(t, "all is executed, and more was due", func(statuses []*chain.Status) bool {
		return statuses[0] != nil && statuses[0].Transfers == 4*each && !slices.ContainsFunc(statuses, hasStock)
	})
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// signsBefore has a producer sign so many transfers, which it takes from nowhere else.
func signsBefore(t *testing.T, producer *chain.Client, transfers int64) {
	t.Helper()
	refusesTarget(t, producer, chain.LoadTarget{TransfersPerSecond: 50, Signing: chain.SigningBefore},
		"signing: no transfers were signed before")
	if _, err := producer.SetLoad(t.Context(), chain.LoadTarget{Signing: chain.SigningBefore, Stock: transfers}); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, "all is signed", func() bool {
		load, err := producer.Load(t.Context())
		return err == nil && load.Stock != nil && load.Stock.Signed == transfers
	})
	refusesTarget(t, producer, chain.LoadTarget{
		TransfersPerSecond: 50, Signing: chain.SigningBefore, Workload: chain.Workload{Senders: "Uniform"},
	}, "signing: the transfers that were signed before are of another workload")
}

// hasStock says whether a node has something left that it signed before, or was not
// asked for more yet.
func hasStock(status *chain.Status) bool {
	return status != nil && status.Load != nil && (status.Load.Stock.Left > 0 || status.Load.Exhausted == 0)
}

// refusesTarget checks that a generator refuses what it cannot do, and says why.
func refusesTarget(t *testing.T, producer *chain.Client, target chain.LoadTarget, want string) {
	t.Helper()
	_, err := producer.SetLoad(t.Context(), target)
	refused, is := errors.AsType[*chain.ResponseError](err)
	if !is || refused.StatusCode != http.StatusBadRequest || refused.Message != want {
		t.Errorf("told %+v, it answers %v, want %q", target, err, want)
	}
}

// admin is a client of a validator's admin API.
func (c *command) admin(t *testing.T, validator string) *chain.Client {
	t.Helper()
	folder := filepath.Join(c.stateDir, "small")
	document, err := os.ReadFile(filepath.Join(folder, nodeconfig.DefaultFiles.Genesis))
	if err != nil {
		t.Fatal(err)
	}
	publicKeys, err := nodeconfig.PublicKeys(document)
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(folder, "nodes", validator, nodeconfig.DefaultFiles.AdminToken))
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range c.validators(t) {
		if process.Name == validator {
			client := chain.NewClient(process.HTTP, chain.Admin{
				Address: process.Admin, PublicKey: publicKeys[validator], Token: string(bytes.TrimSpace(token)),
			})
			t.Cleanup(client.Close)
			return client
		}
	}
	t.Fatalf("there is no validator %s", validator)
	return nil
}
