// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

const networkManifest = `apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata:
  name: net
spec:
  shards: 2
  producersPerShard: 2
  placement: {exclusivity: Shared}
  volume: {size: 1Gi}
  lifetime: {durationSeconds: 60, action: Stop}
`

var nodeNames = []string{"net-s0-p0", "net-s0-p1", "net-s1-p0", "net-s1-p1"}

// yard is a namespace of the API server whose pods run.
type yard struct {
	*machine

	options Options
	said    strings.Builder
}

func newYard(t *testing.T, url string) *yard {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	cluster, err := client.New(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-"}}
	if err := cluster.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	y := &yard{machine: startMachine(t, cluster, namespace.Name)}
	y.options = Options{
		Client: cluster, Namespace: namespace.Name, URL: url, SecretName: "writer", Image: "operator:test",
		AtOnce: 2, Deadline: time.Hour, Progress: &y.said, poll: 20 * time.Millisecond,
	}
	return y
}

// newKept has a stopped network of a cluster kept in a bucket.
func newKept(t *testing.T, url string) *yard {
	t.Helper()
	y := newYard(t, url)
	y.stop()
	_, err := y.backup()
	y.must(err)
	return y
}

func (y *yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// stop makes a network as its operator leaves it that is stopped.
func (y *yard) stop() *v1alpha1.ShardNetwork {
	y.t.Helper()
	ctx := y.t.Context()
	network, err := manifest.Parse([]byte(networkManifest))
	y.must(err)
	network.Namespace = y.namespace
	y.must(y.client.Create(ctx, network))
	plan, err := topology.New(network)
	y.must(err)
	public := map[string]ed25519.PublicKey{}
	for _, node := range plan.Nodes {
		key, err := keys.Generate()
		y.must(err)
		public[node.Name] = key.Public()
		y.must(y.client.Create(ctx, resources.NewKey(network, node, key.File())))
		y.must(y.client.Create(ctx, resources.RestoredClaim(network, node)))
		y.write(node.Name, ".formats", "7\n")
		y.write(node.Name, "blobs/0", "data of "+node.Name)
	}
	y.must(y.client.Create(ctx, resources.NewAdminToken(network, "token")))
	genesis, err := nodeconfig.NewGenesis(network, plan, public, time.UnixMilli(1_700_000_000_000))
	y.must(err)
	document, err := resources.NewGenesis(network, genesis)
	y.must(err)
	y.must(y.client.Create(ctx, document))
	y.seen(network)
	return network
}

// seen has the operator say that a network is stopped.
func (y *yard) seen(network *v1alpha1.ShardNetwork) {
	y.t.Helper()
	network.Status.NodeImage = "shardnode:made"
	network.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionWithinLifetime, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonStopped,
		Message: "it is stopped", ObservedGeneration: network.Generation, LastTransitionTime: metav1.Now(),
	}}
	y.must(y.client.Status().Update(y.t.Context(), network))
}

// write writes a file of a node's data.
func (y *yard) write(node, file, content string) {
	y.t.Helper()
	path := filepath.Join(y.disk(resources.ClaimName(node)), "data", filepath.FromSlash(file))
	y.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
}

// data are the files on the disk of a node.
func (y *yard) data(node string) map[string]string {
	y.t.Helper()
	root, found := y.disk(resources.ClaimName(node)), map[string]string{}
	y.must(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		found[name] = string(content)
		return err
	}))
	return found
}

func (y *yard) backup(nodes ...string) (*backup.Manifest, error) {
	return Backup(y.t.Context(), BackupOptions{Options: y.options, Network: "net", Nodes: nodes})
}

func (y *yard) restore(ctx context.Context, change ...func(*RestoreOptions)) (*v1alpha1.ShardNetwork, error) {
	options := RestoreOptions{Options: y.options, Forward: y.forward}
	for _, change := range change {
		change(&options)
	}
	_, network, err := Restore(ctx, options)
	return network, err
}

// checkClean expects that nothing is left of a run.
func (y *yard) checkClean() {
	y.t.Helper()
	pods, policies, lock := &corev1.PodList{}, &networkingv1.NetworkPolicyList{}, &corev1.ConfigMap{}
	y.must(y.client.List(y.t.Context(), pods, client.InNamespace(y.namespace)))
	y.must(y.client.List(y.t.Context(), policies, client.InNamespace(y.namespace)))
	err := y.client.Get(y.t.Context(), client.ObjectKey{Namespace: y.namespace, Name: resources.BackupLockName("net")}, lock)
	if len(pods.Items)+len(policies.Items) > 0 || err == nil {
		y.t.Errorf("%d pods and %d policies are left, and of the lock %v", len(pods.Items), len(policies.Items), err)
	}
}

// checkRestored expects all that a network goes on from.
func (y *yard) checkRestored(want *yard) {
	y.t.Helper()
	ctx := y.t.Context()
	genesis := map[*yard]*corev1.ConfigMap{y: {}, want: {}}
	for of, document := range genesis {
		y.must(y.client.Get(ctx, client.ObjectKey{Namespace: of.namespace, Name: resources.GenesisName("net")}, document))
	}
	if got := genesis[y]; resources.GenesisFile(got) != resources.GenesisFile(genesis[want]) || len(got.OwnerReferences) > 0 ||
		got.Annotations[resources.AnnotationRestore] != "" {
		y.t.Errorf("the genesis document is %+v", got)
	}
	for _, node := range nodeNames {
		secrets := map[*yard]*corev1.Secret{y: {}, want: {}}
		for of, secret := range secrets {
			y.must(y.client.Get(ctx, client.ObjectKey{Namespace: of.namespace, Name: resources.KeyName(node)}, secret))
		}
		if got := secrets[y]; string(resources.KeyFile(got)) != string(resources.KeyFile(secrets[want])) || len(got.OwnerReferences) > 0 ||
			got.Labels[resources.LabelValidator] != node || !ptr.Deref(got.Immutable, false) {
			y.t.Errorf("the key of %s is %+v", node, got.ObjectMeta)
		}
		if got, want := y.data(node), want.data(node); !maps.Equal(got, want) {
			y.t.Errorf("%s has %v, want %v", node, got, want)
		}
		claim := &corev1.PersistentVolumeClaim{}
		y.must(y.client.Get(ctx, client.ObjectKey{Namespace: y.namespace, Name: resources.ClaimName(node)}, claim))
		if claim.Annotations[resources.AnnotationRestore] != "" || claim.Labels[resources.LabelValidator] != node ||
			claim.Spec.Resources.Requests.Storage().Cmp(resource.MustParse("1Gi")) != 0 {
			y.t.Errorf("the claim of %s is %+v", node, claim)
		}
	}
}

// onMachine keeps once more what was kept, as the command does for a network of a machine,
// each of whose nodes has a token of its own.
func onMachine(t *testing.T, from, to string) {
	t.Helper()
	folder := t.TempDir()
	read, place := readBackup(t, from), open(t, from)
	if err := read.Put(t.Context(), place, folder, func(path string) (string, bool) { return path, true }); err != nil {
		t.Fatal(err)
	}
	paths := []string{backup.NetworkFile, backup.GenesisFile}
	for _, node := range nodeNames {
		if err := os.WriteFile(filepath.Join(folder, backup.TokenFile(node)), []byte("token of "+node), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, backup.KeyFile(node), backup.TokenFile(node), backup.DataFolder(node))
	}
	if err := backup.Write(t.Context(), read, folder, open(t, to), paths); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, url string) backup.Place {
	t.Helper()
	place, err := backup.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = place.Close() })
	return place
}

func readBackup(t *testing.T, url string) *backup.Manifest {
	t.Helper()
	place := open(t, url)
	read, err := backup.Read(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Verify(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	return read
}

// genesisMark is what the genesis document says of a restore.
func (y *yard) genesisMark() string {
	document := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: y.namespace, Name: resources.GenesisName("net")}
	if err := y.client.Get(context.Background(), key, document); err != nil {
		y.t.Error(err)
	}
	return document.Annotations[resources.AnnotationRestore]
}

// disown has what a network made stay.
func (y *yard) disown() {
	y.t.Helper()
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ConfigMapList{}} {
		y.must(y.client.List(y.t.Context(), list, client.InNamespace(y.namespace), client.MatchingLabels{resources.LabelNetwork: "net"}))
		var objects []client.Object
		switch list := list.(type) {
		case *corev1.SecretList:
			for i := range list.Items {
				objects = append(objects, &list.Items[i])
			}
		case *corev1.ConfigMapList:
			for i := range list.Items {
				objects = append(objects, &list.Items[i])
			}
		}
		for _, object := range objects {
			object.SetOwnerReferences(nil)
			y.must(y.client.Update(y.t.Context(), object))
		}
	}
}

// goOn has a network that was kept go on, and deletes it then, with its disks retained. It
// returns what they had before.
func (y *yard) goOn(network *v1alpha1.ShardNetwork) map[string]map[string]string {
	y.t.Helper()
	before := map[string]map[string]string{}
	for _, node := range nodeNames {
		before[node] = y.data(node)
		y.write(node, "blobs/0", "later")
		y.write(node, "blobs/1", "later")
	}
	// The cluster would delete what the network owns with it.
	y.must(y.client.Delete(y.t.Context(), network))
	y.disown()
	return before
}

// checkData expects these files on the disks of all nodes.
func (y *yard) checkData(want map[string]map[string]string) {
	y.t.Helper()
	for _, node := range nodeNames {
		if got := y.data(node); !maps.Equal(got, want[node]) {
			y.t.Errorf("%s has %v, want %v", node, got, want[node])
		}
	}
}
