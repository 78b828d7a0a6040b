// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/archives"
)

var exampleSummary = Summary{
	TPS: 5981.2, BlockTimeMs: 251.3, Height: 1240, Shards: 2, Validators: 4,
	Executed: 330_000, CrossShard: 165_012, MissedChunks: 3, SupplyConserved: true,
	CPUMicrosecondsPerTransfer: ptr.To(181.5), WindowSeconds: 54.1, GenesisHash: "abcd",
}

func TestSummaryJSON(t *testing.T) {
	t.Parallel()
	idle := exampleSummary
	idle.CPUMicrosecondsPerTransfer = nil
	archived := exampleSummary
	archived.StatesArchived = &StatesArchived{archives.Late, "not for long"}
	for _, test := range []struct {
		summary Summary
		want    string
	}{
		{exampleSummary, `{"tps":5981.2,"blockTimeMs":251.3,"height":1240,"shards":2,"validators":4,` +
			`"executed":330000,"crossShard":165012,"missedChunks":3,"supplyConserved":true,` +
			`"cpuMicrosecondsPerTransfer":181.5,"windowSeconds":54.1,"genesisHash":"abcd"}` + "\n"},
		{idle, `"cpuMicrosecondsPerTransfer":null`},
		{archived, `"statesArchived":{"standing":"Late","says":"not for long"}`},
	} {
		var out bytes.Buffer
		if err := test.summary.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), test.want) {
			t.Errorf("the summary is\n%s\nwant\n%s", &out, test.want)
		}
	}
}

func TestSummaryText(t *testing.T) {
	t.Parallel()
	want := strings.Join([]string{
		"TPS            5,981 over the last 54.1 s",
		"block time     251.3 ms",
		"CPU            181.5 µs per transfer, all validators together",
		"height         1,240",
		"shards         2, with 4 validators",
		"executed       330,000 transfers, 165,012 of them to another shard",
		"missed chunks  3",
		"supply         conserved",
		"genesis hash   abcd",
		"",
	}, "\n")
	var out bytes.Buffer
	if err := exampleSummary.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("the summary is\n%s\nwant\n%s", &out, want)
	}

	out.Reset()
	archived := exampleSummary
	archived.StatesArchived = &StatesArchived{archives.Current, "all 2 shards could come back from an archive"}
	if err := archived.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "archives       all 2 shards could come back from an archive\n") {
		t.Errorf("the summary does not tell of archives:\n%s", &out)
	}

	out.Reset()
	if err := (&Summary{}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no transfer was executed", "NOT conserved"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, &out)
		}
	}
}
