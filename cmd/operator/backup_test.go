// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/buckets"
)

// runPod runs the command of a pod, with a folder in the place of its own.
func runPod(t *testing.T, pod *corev1.Pod, folder string) error {
	t.Helper()
	var arguments []string
	for _, argument := range pod.Spec.Containers[0].Args {
		argument = strings.ReplaceAll(strings.ReplaceAll(argument, "$$", "$"), resources.BackupFolder, folder)
		arguments = append(arguments, argument)
	}
	command := newCommand()
	command.SetArgs(arguments)
	return command.ExecuteContext(t.Context())
}

// The pods of a backup and a restore know what they are told.
func TestPodsOfBackups(t *testing.T) {
	server := buckets.Serve(t)
	run := &resources.BackupRun{Namespace: "yard", ID: "7", Image: "operator:test", URL: server.URL("$(HOME)/kept")}
	network := &v1alpha1.ShardNetwork{}
	network.Name = "net"
	node := topology.Validator{Name: "net-s0-p0", Role: topology.RoleProducer, Seat: &topology.Seat{}}
	plan := &topology.Plan{Network: "net", Nodes: []topology.Validator{node}}

	folder, disk := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		"manifest.yaml": "kind: ShardNetwork", "genesis.json": "{}",
		"nodes/net-s0-p0/validator.key": "key", "nodes/net-s0-p0/admin.token": "token",
		"nodes/net-s0-p0/data/.formats": "7", "nodes/net-s0-p0/data/state/0": "state",
		resources.BackupHead: `{"network": "net", "genesisHash": "6f1c", "nodes": [{"name": "net-s0-p0"}]}`,
	} {
		path = filepath.Join(folder, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := runPod(t, run.NewContentsServer("hash"), ""); err == nil || !strings.Contains(err.Error(), "is no complete backup") {
		t.Errorf("the error is %v", err)
	}
	for _, pod := range []*corev1.Pod{run.NewNetworkKeeper(network, plan), run.NewNodeKeeper(network, node)} {
		if err := runPod(t, pod, folder); err != nil {
			t.Fatal(err)
		}
	}
	if err := runPod(t, run.NewClearer(network), ""); err != nil || len(server.Keys(t)) > 0 {
		t.Errorf("the bucket has %v (%v)", server.Keys(t), err)
	}
	for _, pod := range []*corev1.Pod{run.NewNetworkKeeper(network, plan), run.NewNodeKeeper(network, node), run.NewSealer(network)} {
		if err := runPod(t, pod, folder); err != nil {
			t.Fatal(err)
		}
	}
	if err := runPod(t, run.NewNodeRestorer(network, node, nil), disk); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(disk, "data", "state", "0"))
	if err != nil || string(content) != "state" {
		t.Errorf("the disk has %q (%v)", content, err)
	}
	if keys := server.Keys(t); !slices.Contains(keys, "$(HOME)/kept/"+backup.ManifestFile) {
		t.Errorf("the bucket has %v", keys)
	}
}
