// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
)

// planted are secrets, each of which a bundle must not have.
var planted = []string{"planted-admin-token", strings.Repeat("5ec2e7", 11)}

// contents unpacks a bundle and returns its files by their names in it.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	folder := t.TempDir()
	unpack := exec.CommandContext(t.Context(), "tar", "-xzf", path, "-C", folder, "--strip-components=1")
	if output, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("unpack the bundle: %v\n%s", err, output)
	}
	files := map[string]string{}
	if err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files[name] = string(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		for _, secret := range planted {
			if strings.Contains(content, secret) {
				t.Errorf("%s has a secret", name)
			}
		}
	}
	return files
}

// keepNetwork writes what is kept of a network that has run, with secrets where
// they belong and where they do not.
func keepNetwork(t *testing.T, folder string) {
	t.Helper()
	for name, content := range map[string]string{
		"genesis.json": "{}", "manifest.yaml": "kind: ShardNetwork", "peers.json": "{}",
		"nodes/a/config.json": "{}", "nodes/a/node.log": "a log with " + planted[0] + "\n",
		"nodes/b/config.json": "{}", "nodes/b/node.log": "of now", "nodes/b/node.log.1": "of before",
		"nodes/a/admin.token": planted[0], "nodes/a/validator.key": planted[1] + "\n", "nodes/a/data/state": planted[1],
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A bundle of a network that has run has its logs and not its secrets, even one
// that a log has.
func TestCollectLocal(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	keepNetwork(t, filepath.Join(stateDir, "small"))
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	args := []string{"shardyard", "collect", "local", "--state-dir", stateDir, "--network", "small", "-o", bundle}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stdout.String() != "the bundle is "+bundle+"\n" {
		t.Fatalf("it exits with %d: %s%s", code, &stdout, &stderr)
	}
	if said := stderr.String(); !strings.Contains(said, "runtime.json: ") || strings.Contains(said, "node.log.1") {
		t.Errorf("it does not say what is missing, or misses the log of a run before the first: %s", said)
	}
	files := contents(t, bundle)
	for name, want := range map[string]string{
		"nodes/a/node.log": "a log with (hidden)\n", "nodes/a/config.json": "{}", "manifest.yaml": "kind: ShardNetwork",
		"nodes/b/node.log.1": "of before", "missing.txt": "runtime.json", "version.txt": "development",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s is %q, want %q in it", name, files[name], want)
		}
	}
	for name := range files {
		if strings.HasSuffix(name, "key") || strings.HasSuffix(name, "token") || strings.Contains(name, "data/") {
			t.Errorf("the bundle has %s", name)
		}
	}

	lines := shardyardFails(t, args[1:]...)
	if len(lines) != 1 || !strings.Contains(lines[0], "file exists") {
		t.Errorf("over another bundle it says %q", lines)
	}
}

// Whoever does not wait for a bundle has none, rather than one that lacks what was still to
// come.
func TestCollectInterrupted(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	keepNetwork(t, filepath.Join(stateDir, "small"))
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"shardyard", "collect", "local", "--state-dir", stateDir, "--network", "small", "-o", bundle}, &stdout, &stderr)
	if said := stderr.String(); code != 1 || said != "error: interrupted before all was collected\n" || stdout.Len() > 0 {
		t.Errorf("it exits with %d: %s%s", code, &stdout, said)
	}
	if _, err := os.Stat(bundle); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bundle is left: %v", err)
	}
}

// Of a network that there is not, there is no bundle.
func TestCollectLocalWithoutNetwork(t *testing.T) {
	t.Parallel()
	stateDir, bundle := t.TempDir(), filepath.Join(t.TempDir(), "bundle.tar.gz")
	lines := shardyardFails(t, "collect", "local", "--state-dir", stateDir, "--network", "none", "-o", bundle)
	if want := "error: there is no network none in " + stateDir; len(lines) != 1 || lines[0] != want {
		t.Errorf("of no network it says %q, want %q", lines, want)
	}
	if _, err := os.Stat(bundle); err == nil {
		t.Error("of no network it leaves a bundle")
	}
}

// faultOf is a fault of a network.
func faultOf(t *testing.T, namespace, name, network string) *v1alpha1.Fault {
	t.Helper()
	fault, err := manifest.ReadFault("../../config/samples/fault/kill-producer-at-once.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fault.Namespace, fault.Name, fault.Spec.NetworkName = namespace, name, network
	return fault
}

// trialsOf are a fault and a benchmark of the network, one each of another, and what
// came of the first.
func trialsOf(t *testing.T, namespace string) []client.Object {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark("../../config/samples/benchmark/running-network.yaml")
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Namespace, benchmark.Name = namespace, "of-it"
	benchmark.Spec.Network.Name = "quickstart"
	another := benchmark.DeepCopy()
	another.Name, another.Spec.Network.Name = "of-another", "other"
	watcher := metav1.ObjectMeta{
		Namespace: namespace, Name: "early-fault", Labels: map[string]string{resources.LabelFault: "early"},
	}
	return []client.Object{
		benchmark, another,
		faultOf(t, namespace, "early", "quickstart"), faultOf(t, namespace, "elsewhere", "other"),
		&corev1.Pod{ObjectMeta: watcher, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "fault-watcher", Image: "operator:dev"}}}},
		&eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "early-fault.1"},
			EventTime:  metav1.NowMicro(), ReportingController: "kubelet", ReportingInstance: "machine-1",
			Action: "Pulling", Reason: "Pulling", Type: corev1.EventTypeNormal, Note: "the image is pulled",
			Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "early-fault"},
		},
	}
}

// createOperators creates the pod of an operator whose chart was given another name, and of
// one that is somebody else's. Both say that they have run.
func createOperators(t *testing.T, cluster client.Client, namespace string) {
	t.Helper()
	for name, args := range map[string][]string{
		"shards": {"--leader-elect", "--node-image=shardnode:dev"}, "databases": {"--leader-elect"},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
				resources.LabelName: name, "app.kubernetes.io/component": "operator",
			}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "operator:dev", Args: args}}},
		}
		if err := cluster.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "operator"}}
		if err := cluster.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever the operator's chart is told, its pods are found.
func TestOperatorsOfTheChart(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"_helpers.tpl":    {"\napp.kubernetes.io/component: " + operators["app.kubernetes.io/component"] + "\n"},
		"deployment.yaml": {`include "shardyard.selectorLabels"`, "- name: operator\n", "- --node-image="},
	} {
		content, err := os.ReadFile(filepath.Join("../../charts/shardyard/templates", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(content), part) {
				t.Errorf("%s does not have %q", file, part)
			}
		}
	}
}

// checkForeign checks that a bundle has the log of the network's operator, and nothing of
// others.
func checkForeign(t *testing.T, files map[string]string) {
	t.Helper()
	// The log of one that nothing runs is empty.
	if _, ok := files["operator/shards/operator.log"]; !ok || strings.Contains(files["missing.txt"], "operator") {
		t.Errorf("the operator's log is missing: %s", files["missing.txt"])
	}
	for name, content := range files {
		if strings.Contains(name, "databases") {
			t.Errorf("it has %s, of another operator", name)
		}
		for _, foreign := range []string{"kind: Secret", "managedFields", "elsewhere", "of-another"} {
			if strings.Contains(content, foreign) {
				t.Errorf("%s has what it must not: %s", name, foreign)
			}
		}
	}
}

// A bundle of a cluster's network has its objects, faults, benchmarks and events, and
// no Secret.
func TestCollectCluster(t *testing.T) {
	t.Parallel()
	path := kubeconfig(t)
	cluster, err := (&clusterFlags{kubeconfig: path}).client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "collect-"}}
	if err := cluster.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	network, err := manifest.Read(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	network.Namespace = namespace.Name
	labelled := metav1.ObjectMeta{Namespace: namespace.Name, Name: "quickstart-s0-p0", Labels: resources.NetworkLabels("quickstart")}
	labelled.Labels[resources.LabelValidator] = "quickstart-s0-p0"
	for _, object := range append(trialsOf(t, namespace.Name),
		network,
		&corev1.Secret{ObjectMeta: labelled, StringData: map[string]string{"token": planted[0], "key": planted[1]}},
		&corev1.ConfigMap{ObjectMeta: labelled, Data: map[string]string{"config.json": "{}"}},
		&corev1.Pod{ObjectMeta: labelled, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "shardnode", Image: "shardnode:dev"}}}},
	) {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	createOperators(t, cluster, namespace.Name)
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	args := []string{"collect", "cluster", "quickstart", "--kubeconfig", path, "-n", namespace.Name, "-o", bundle}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"shardyard"}, args...), &stdout, &stderr); code != 0 {
		t.Fatalf("it exits with %d: %s", code, &stderr)
	}
	files := contents(t, bundle)
	for _, part := range []struct{ file, want string }{
		{"network.yaml", "kind: ShardNetwork"},
		{"objects/configmap.yaml", "config.json"},
		{"objects/pod.yaml", "shardnode:dev"},
		{"objects/fault.yaml", "name: early"},
		{"objects/benchmark.yaml", "name: of-it"},
		{"events.yaml", "the image is pulled"},
		// Nothing runs the pods here.
		{"missing.txt", "nodes/quickstart-s0-p0/status.json: "},
		{"missing.txt", "trials/of-it: there is no pod"},
	} {
		if !strings.Contains(files[part.file], part.want) {
			t.Errorf("%s is %q, want %q in it", part.file, files[part.file], part.want)
		}
	}
	checkForeign(t, files)
	lines := shardyardFails(t, "collect", "cluster", "none", "--kubeconfig", path, "-n", namespace.Name, "-o", bundle+".2")
	if len(lines) != 1 || !strings.Contains(lines[0], `"none" not found`) {
		t.Errorf("of no network it says %q", lines)
	}
}
