// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/buckets"
)

// TestBackup keeps a network that was stopped. Of the archive's part of it alone, a shard
// comes back whose producers and archive have nothing any more; of all of it, the
// network, when nothing is left: with the same blocks, from where it was. The part comes
// from a bucket, and all from a folder.
func TestBackup(t *testing.T) {
	t.Parallel()
	stateDir, folder := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	network := upArchived(t, stateDir)
	watch(t, network).eventually(t, "the archive has all states", func(statuses []*chain.Status) bool {
		archive := statuses[archiveNode]
		return archive != nil && archive.Archive != nil && archive.FinalizedHeight > 3*snapshotInterval &&
			!slices.ContainsFunc(archive.Archive.Shards, func(kept chain.ArchivedStatus) bool { return kept.ArchivedHeight == nil })
	})
	refuses(t, "network small is running", "backup", folder, "--network", "small", "--state-dir", stateDir)
	network.stop(t)

	place := serveBucket(t)
	succeeds(t, "backup", folder, "--network", "small", "--state-dir", stateDir)
	succeeds(t, "backup", place, "--network", "small", "--state-dir", stateDir)
	manifest := readManifest(t, folder)
	nodes := filepath.Join(stateDir, "small", "nodes")
	for _, lost := range []string{"small-s1-p0", "small-s1-p1", "small-a0"} {
		remove(t, filepath.Join(nodes, lost, "data"))
	}
	succeeds(t, "restore", place, "--node", "small-a0", "--state-dir", stateDir)
	network = upArchived(t, stateDir)
	awaitReturn(t, watch(t, network), manifest.Chain.FinalizedHeight)
	network.stop(t)

	refuses(t, "has data on its disk", "restore", folder, "--state-dir", stateDir)
	remove(t, stateDir)
	refuses(t, "only 0 of 8 producers would have data", "restore", folder, "--node", "small-a0", "--state-dir", stateDir)
	succeeds(t, "restore", folder, "--state-dir", stateDir)
	network = upArchived(t, stateDir)
	o := watch(t, network)
	o.eventually(t, "the chain goes on", func(statuses []*chain.Status) bool {
		status := statuses[otherProducer]
		return status != nil && status.FinalizedHeight > manifest.Chain.FinalizedHeight+snapshotInterval
	})
	checkBlock(t, o, manifest.Chain)
	network.stop(t)
}

// upArchived runs the network with an archive.
func upArchived(t *testing.T, stateDir string) *command {
	t.Helper()
	network := up(t, stateDir, "-f", "testdata/archive.yaml")
	network.nodes = 9
	network.says(t, "ready after")
	return network
}

// serveBucket serves a bucket, and says where a network may be kept in it.
func serveBucket(t *testing.T) string {
	t.Helper()
	handler, _, err := buckets.NewHandler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return "s3://" + buckets.Name + "/small?region=here&use_path_style=true&endpoint=" + url.QueryEscape(server.URL)
}

// stop ends a run, after which the supply must be as it was.
func (c *command) stop(t *testing.T) {
	t.Helper()
	c.signal(t, os.Interrupt)
	if summary := c.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// succeeds runs a command line that must succeed.
func succeeds(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := runShardyard(t, arguments); err != nil {
		t.Fatalf("%v ends with %v, and says\n%s", arguments, err, output)
	}
}

// refuses runs a command line that must fail with these words.
func refuses(t *testing.T, words string, arguments ...string) {
	t.Helper()
	if output, err := runShardyard(t, arguments); err == nil || !strings.Contains(output, words) {
		t.Fatalf("%v ends with %v, and says\n%s\nwant %q", arguments, err, output, words)
	}
}

func runShardyard(t *testing.T, arguments []string) (string, error) {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	if arguments[0] == "restore" {
		arguments = append(arguments, "--shardnode", programs.shardnode)
	}
	command := exec.CommandContext(t.Context(), programs.shardyard, arguments...)
	command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+buckets.KeyID, "AWS_SECRET_ACCESS_KEY=secret")
	output, err := command.CombinedOutput()
	return string(output), err
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func readManifest(t *testing.T, folder string) *backup.Manifest {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, backup.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	manifest := &backup.Manifest{}
	if err := json.Unmarshal(content, manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Chain == nil || len(manifest.Chain.Shards) != archiveShards || len(manifest.Nodes) != 9 {
		t.Fatalf("the manifest is %+v", manifest)
	}
	return manifest
}

// checkBlock checks that the chain has the block that a backup names.
func checkBlock(t *testing.T, o *observer, kept *backup.Chain) {
	t.Helper()
	client := chain.NewClient(o.validators[otherProducer].HTTP, chain.Admin{})
	defer client.Close()
	block, err := client.Block(t.Context(), kept.FinalizedHeight)
	if err != nil {
		t.Fatal(err)
	}
	if block.Hash != kept.BlockHash {
		t.Errorf("block %d is %s, want %s", kept.FinalizedHeight, block.Hash, kept.BlockHash)
	}
}
