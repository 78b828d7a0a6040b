// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// The status of the node contract is read to the last field: written again, it
// is the same document.
func TestStatusIsTheContracts(t *testing.T) {
	t.Parallel()
	document := contractStatus(t)
	client := newNode(t, "GET /status", answer(http.StatusOK, document))
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(document), &want); err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	if gotText, wantText := text(got), text(want); gotText != wantText {
		t.Errorf("the status is\n%s\nwant\n%s", gotText, wantText)
	}
}

// A node that tracks no shard and signs nothing says so with null.
func TestStatusOfAnRPCNode(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /status", answer(http.StatusOK, `{"role": "rpc", "tracked": null, "copy": null, "load": null}`))
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Tracked != nil || status.Copy != nil || status.Load != nil {
		t.Errorf("tracked is %v, copy is %v and load is %v, want none", status.Tracked, status.Copy, status.Load)
	}
}

// An archive says of each shard what it keeps, with null for no state.
func TestStatusOfAnArchive(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /status", answer(http.StatusOK, `{"role": "archive", "archive": {"usableShards": 1, "shards": [
		{"shard": 0, "archivedHeight": 1000, "behindBlocks": 199, "usable": true},
		{"shard": 1, "archivedHeight": null, "behindBlocks": 1199, "usable": false}
	]}}`))
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	archive := status.Archive
	if archive == nil || archive.UsableShards != 1 || len(archive.Shards) != 2 {
		t.Fatalf("archive is %+v", archive)
	}
	first, second := archive.Shards[0], archive.Shards[1]
	if first.ArchivedHeight == nil || *first.ArchivedHeight != 1000 || first.BehindBlocks != 199 || !first.Usable {
		t.Errorf("shard 0 is %+v", first)
	}
	if second.ArchivedHeight != nil || second.Shard != 1 || second.Usable {
		t.Errorf("shard 1 is %+v", second)
	}
}

// A node that fetches a state says what it does not know yet with null.
func TestStatusOfASyncingNode(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /status", answer(http.StatusOK,
		`{"syncing": {"neededHeight": 7, "snapshotHeight": 1000, "pagesFetched": 0, "pages": null}}`))
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	syncing := status.Syncing
	if syncing == nil || syncing.NeededHeight != 7 || syncing.SnapshotHeight == nil || *syncing.SnapshotHeight != 1000 {
		t.Fatalf("syncing is %+v", syncing)
	}
	if syncing.Pages != nil {
		t.Errorf("pages is %d, want none", *syncing.Pages)
	}
}

// A node that cannot read what its kernel uses says so with null.
func TestStatusWithoutSysctls(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /status", answer(http.StatusOK, `{"tcp": {"congestionControl": null, "somaxconn": 0, "rmem": null}}`))
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tcp := status.TCP; tcp.CongestionControl != nil || tcp.Rmem != nil {
		t.Errorf("congestion control is %v and rmem is %v, want none", tcp.CongestionControl, tcp.Rmem)
	}
	if somaxconn := status.TCP.Somaxconn; somaxconn == nil || *somaxconn != 0 {
		t.Errorf("somaxconn is %v, want 0", somaxconn)
	}
}

// contractStatus is the example of the node contract.
func contractStatus(t *testing.T) string {
	t.Helper()
	contract, err := os.ReadFile("../../docs/node-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(contract), "### `GET /status`\n\n```json\n")
	if !found {
		t.Fatal("the node contract has no example of /status")
	}
	document, _, _ := strings.Cut(section, "\n```\n")
	return document
}
