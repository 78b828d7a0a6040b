// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/buckets"
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

// What a cluster had, another one gets, by way of a bucket, a machine, and a bucket.
func TestBackupsGoEverywhere(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("first"))
	from.stop()
	kept, err := from.backup()
	from.must(err)
	from.checkClean()
	if kept.Network != "net" || len(kept.GenesisHash) != 64 || len(kept.Nodes) != 4 {
		t.Errorf("the backup is %+v", kept)
	}
	read := readBackup(t, server.URL("first"))
	// Of each node key, token and two files, and manifest and genesis document.
	if len(read.Files) != 18 || read.Node("net-s1-p1").Formats != "7" || read.GenesisHash != kept.GenesisHash {
		t.Errorf("the manifest is %+v", read)
	}
	if said := from.said.String(); strings.Count(said, "kept the data of net-s") != 4 {
		t.Errorf("it says %s", said)
	}

	onMachine(t, server.URL("first"), server.URL("second"))
	to := newYard(t, server.URL("second"))
	network, err := to.restore(t.Context())
	to.must(err)
	to.checkClean()
	to.checkRestored(from)
	if network.Namespace != to.namespace || network.Spec.Node.Image != "shardnode:made" {
		t.Errorf("the network is %+v", network)
	}
	content, err := Encode(network)
	to.must(err)
	if _, err := manifest.Parse(content); err != nil || strings.Contains(string(content), "status") {
		t.Errorf("its manifest is no good (%v):\n%s", err, content)
	}
	token := &corev1.Secret{}
	if err := to.client.Get(t.Context(), client.ObjectKey{Namespace: to.namespace, Name: resources.AdminTokenName("net")}, token); err == nil {
		t.Error("of several tokens, one is everybody's")
	}
	to.must(to.client.Create(t.Context(), network))
	if _, err := to.restore(t.Context()); err == nil || !strings.Contains(err.Error(), "network net is there already") {
		t.Errorf("the error is %v", err)
	}
	to.checkClean()
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

// A backup that fails leaves nothing, neither in the bucket nor in the cluster.
func TestBackupsThatFail(t *testing.T) {
	server := buckets.Serve(t)
	for name, test := range map[string]struct {
		harm func(y *yard, network *v1alpha1.ShardNetwork)
		want string
	}{
		"a pod fails": {func(y *yard, _ *v1alpha1.ShardNetwork) {
			y.before = func(command string, given map[string]string) error {
				if command == "keep-node" && given["node"] == "net-s1-p0" {
					return errors.New("the disk is broken")
				}
				return nil
			}
		}, "keep the data of net-s1-p0: pod backup-net-s1-p0-"},
		"a disk with nothing": {func(y *yard, _ *v1alpha1.ShardNetwork) {
			y.must(os.RemoveAll(y.disk(resources.ClaimName("net-s0-p1"))))
		}, "holds nothing of a node"},
		"it goes on meanwhile": {func(y *yard, network *v1alpha1.ShardNetwork) {
			y.before = func(command string, given map[string]string) error {
				if command != "keep-node" || given["node"] != "net-s0-p0" {
					return nil
				}
				network.Spec.Lifetime.DurationSeconds = 61
				if err := y.client.Update(context.Background(), network); err != nil {
					return err
				}
				network.Status.Conditions[0].ObservedGeneration = network.Generation
				return y.client.Status().Update(context.Background(), network)
			}
		}, "did not stay stopped: somebody changed net meanwhile"},
		"no seal": {func(y *yard, _ *v1alpha1.ShardNetwork) {
			y.before = func(command string, _ map[string]string) error {
				if command == "seal-backup" {
					return errors.New("the quota is used up")
				}
				return nil
			}
		}, "the quota is used up"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, server.URL(strings.ReplaceAll(name, " ", "-")))
			network := y.stop()
			test.harm(y, network)
			if _, err := y.backup(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "left") {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			y.checkClean()
			if left := server.Keys(t); len(left) > 0 {
				t.Errorf("the bucket has %v", left)
			}
		})
	}
}

// Who ends a backup in the middle leaves as little.
func TestBackupsThatAreEnded(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("ended"))
	y.stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	y.before = func(command string, given map[string]string) error {
		if command == "keep-node" && given["node"] == "net-s1-p1" {
			cancel()
		}
		return nil
	}
	_, err := Backup(ctx, BackupOptions{Options: y.options, Network: "net"})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "left") {
		t.Errorf("the error is %v", err)
	}
	y.checkClean()
	if left := server.Keys(t); len(left) > 0 {
		t.Errorf("the bucket has %v", left)
	}
}

// An API server that is away for a moment ends no backup, and one that stays away does.
func TestBackupsDuringOutages(t *testing.T) {
	server := buckets.Serve(t)
	for name, test := range map[string]struct {
		failures int64
		want     string
	}{
		"a moment": {20, ""},
		"for good": {1 << 40, "wait for pod backup-network-"},
	} {
		y := newYard(t, server.URL(strings.ReplaceAll(name, " ", "-")))
		y.stop()
		direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: y.client.Scheme()})
		y.must(err)
		var asked atomic.Int64
		y.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
			Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, isPod := object.(*corev1.Pod); isPod && asked.Add(1) <= test.failures {
					return apierrors.NewServiceUnavailable("the API server is away")
				}
				return next.Get(ctx, key, object, options...)
			},
		})
		_, err = y.backup()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
		y.checkClean()
	}
}

// The files of a backup are shown to nobody who does not know the password.
func TestContentsAreForWhoAsked(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("kept"))
	y.stop()
	_, err := y.backup()
	y.must(err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	y.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, y.options.URL, hashOf("right"), listener) }()
	for _, wrong := range []string{"", "wrong", hashOf("right")} {
		if _, err := fetchContents(t.Context(), listener.Addr().String(), wrong); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("with %q the error is %v", wrong, err)
		}
	}
	read, err := fetchContents(t.Context(), listener.Addr().String(), "right")
	y.must(err)
	if len(read.Files) != 10 || read.Of.Network != "net" {
		t.Errorf("there is %+v", read.Of)
	}
	cancel()
	y.must(<-ended)
}

// A place that is taken is refused, and what is there stays.
func TestBackupsOverOthers(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("taken"))
	y.stop()
	server.Put(t, "taken/theirs", []byte("theirs"))
	if _, err := y.backup(); err == nil || !strings.Contains(err.Error(), "s3://kept/taken is not empty") {
		t.Errorf("the error is %v", err)
	}
	y.checkClean()
	if left := server.Keys(t); !slices.Equal(left, []string{"taken/theirs"}) {
		t.Errorf("the bucket has %v", left)
	}
}

// One that goes on keeps others from beginning, and who was killed is told of.
func TestOneBackupAtATime(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("one"))
	y.stop()
	other, err := begin(t.Context(), &y.options)
	y.must(err)
	y.must(other.hold(t.Context(), "net", nil))
	_, err = y.backup()
	if want := "kubectl delete networkpolicy --cascade=foreground -n " + y.namespace + " " + other.policy.Name; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
	y.must(other.end(t.Context()))
	if _, err := y.backup(); err != nil {
		t.Error(err)
	}
	y.checkClean()
}

// A restore that is interrupted lets no node start, and is gone on with.
func TestRestoresThatAreInterrupted(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("kept"))
	from.stop()
	_, err := from.backup()
	from.must(err)

	to := newYard(t, server.URL("kept"))
	to.options.AtOnce = 1
	to.before = func(command string, given map[string]string) error {
		if command == "restore-node" && given["node"] == "net-s1-p0" {
			return errors.New("the machine is gone")
		}
		return nil
	}
	if _, err := to.restore(t.Context()); err == nil || !strings.Contains(err.Error(), "put back the data of net-s1-p0") {
		t.Fatalf("the error is %v", err)
	}
	to.checkClean()
	secrets := &corev1.SecretList{}
	to.must(to.client.List(t.Context(), secrets, client.InNamespace(to.namespace)))
	if len(secrets.Items) > 0 {
		t.Errorf("there are %d Secrets before all data is there", len(secrets.Items))
	}
	to.did()
	// What the pod left when it was killed goes.
	to.write("net-s1-p0", "../data.restoring/blobs/half", "half")

	to.before = func(string, map[string]string) error { return nil }
	_, err = to.restore(t.Context())
	to.must(err)
	want := []string{"serve-backup", "formats", "restore-node net-s1-p0", "restore-node net-s1-p1"}
	if did := to.did(); !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
	to.checkClean()
	to.checkRestored(from)
}

// A restore that fails once all disks are full is gone on with as well.
func TestRestoresThatGetNoKeys(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("kept"))
	from.stop()
	_, err := from.backup()
	from.must(err)

	to := newYard(t, server.URL("kept"))
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: to.client.Scheme()})
	to.must(err)
	refusal := apierrors.NewForbidden(corev1.Resource("secrets"), "net-s1-p0-key", errors.New("exceeded quota: team"))
	to.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if object.GetName() == resources.KeyName("net-s1-p0") {
				return refusal
			}
			return next.Create(ctx, object, options...)
		},
	})
	if _, err := to.restore(t.Context()); !errors.Is(err, refusal) {
		t.Fatalf("the error is %v", err)
	}
	to.did()
	to.options.Client = to.client
	_, err = to.restore(t.Context())
	to.must(err)
	if did, want := to.did(), []string{"serve-backup", "formats"}; !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
	to.checkClean()
	to.checkRestored(from)
}

// Keys come for no network whose disks did not stay, or that runs by now.
func TestRestoresThatAreDisturbed(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("kept"))
	from.stop()
	_, err := from.backup()
	from.must(err)
	for name, test := range map[string]struct {
		disturb func(y *yard) error
		want    string
	}{
		"a claim goes": {func(y *yard) error {
			claim := &corev1.PersistentVolumeClaim{}
			claim.Namespace, claim.Name = y.namespace, resources.ClaimName("net-s0-p0")
			claim.Finalizers = nil
			return y.client.Delete(context.Background(), claim)
		}, "data-net-s0-p0-0 is still of an earlier network"},
		"a node runs": {func(y *yard) error {
			return y.client.Create(context.Background(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: y.namespace, Name: "net-s0-p0-0", Labels: resources.NetworkLabels("net")},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Args: []string{"none"}}}},
			})
		}, "1 StatefulSets and pods of a network net are there"},
	} {
		y := newYard(t, server.URL("kept"))
		y.options.AtOnce = 1
		y.before = func(command string, given map[string]string) error {
			if command == "restore-node" && given["node"] == "net-s1-p1" {
				return test.disturb(y)
			}
			return nil
		}
		if _, err := y.restore(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
		secrets := &corev1.SecretList{}
		y.must(y.client.List(t.Context(), secrets, client.InNamespace(y.namespace)))
		if len(secrets.Items) > 0 || y.genesisMark() == "" {
			t.Errorf("%s: there are %d Secrets", name, len(secrets.Items))
		}
	}
}

func TestRefusedRestores(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("kept"))
	network := from.stop()
	_, err := from.backup()
	from.must(err)
	part := newYard(t, server.URL("part"))
	part.stop()
	_, err = part.backup("net-s0-p0")
	part.must(err)
	node := topology.Validator{Name: "net-s0-p1", Role: topology.RoleProducer, Seat: &topology.Seat{Slot: 1}}

	for name, test := range map[string]struct {
		url    string
		change func(y *yard, options *RestoreOptions)
		want   string
	}{
		"a disk that is there": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			y.must(y.client.Create(t.Context(), resources.RestoredClaim(here, node)))
		}, "net-s0-p1 has a disk already, by the claim data-net-s0-p1-0: with --replace"},
		"a disk of an earlier restore": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			read, err := readContents(t.Context(), open(t, y.options.URL))
			y.must(err)
			claim := resources.RestoredClaim(here, node)
			claim.Annotations = map[string]string{resources.AnnotationRestore: filled + read.ID}
			y.must(y.client.Create(t.Context(), claim))
		}, "net-s0-p1 has a disk already, by the claim data-net-s0-p1-0: with --replace"},
		"another key": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			y.must(y.client.Create(t.Context(), resources.RestoredKey(here, node, []byte(strings.Repeat("ab", 32)))))
		}, "the Secret net-s0-p1-key holds another key than the backup: kubectl delete configmap,secret -n "},
		"another genesis document": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			y.must(y.client.Create(t.Context(), resources.RestoredGenesis(here, []byte("{}"))))
		}, "the ConfigMap net-genesis is the genesis document of another network"},
		"an object of another network": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			claim := resources.RestoredClaim(here, node)
			claim.OwnerReferences = []metav1.OwnerReference{resources.OwnerReference(network)}
			y.must(y.client.Create(t.Context(), claim))
		}, "data-net-s0-p1-0 is still of an earlier network: wait until it is gone"},
		"a pod that is left": {"kept", func(y *yard, _ *RestoreOptions) {
			y.must(y.client.Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: y.namespace, Name: "net-s0-p0-0", Labels: resources.NetworkLabels("net")},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Args: []string{"none"}}}},
			}))
		}, "1 StatefulSets and pods of a network net are there: delete it"},
		"other formats": {"kept", func(y *yard, _ *RestoreOptions) {
			y.formats = "8"
		}, "the data of net-s0-p0 has formats 7, and shardnode:made reads 8"},
		"too few producers": {"kept", func(_ *yard, options *RestoreOptions) {
			options.Nodes = nodeNames[:2]
		}, "only 2 of 4 producers would have data"},
		"data that was not kept": {"part", func(_ *yard, options *RestoreOptions) {
			options.Nodes = nodeNames
		}, "the backup has no data of a node net-s0-p1"},
		"a manifest without disks": {"kept", func(_ *yard, options *RestoreOptions) {
			options.Manifest = []byte(strings.ReplaceAll(strings.ReplaceAll(networkManifest,
				"  volume: {size: 1Gi}\n", ""), "  lifetime: {durationSeconds: 60, action: Stop}\n", ""))
		}, "the manifest has no spec.volume"},
		"a manifest of another genesis": {"kept", func(_ *yard, options *RestoreOptions) {
			options.Manifest = []byte(networkManifest + "  genesis: {seed: another}\n")
		}, "the genesis document of the backup is not the one of the manifest and the keys"},
		"nothing there": {"absent", func(*yard, *RestoreOptions) {}, "s3://kept/absent is no complete backup"},
		"a folder":      {"", func(_ *yard, options *RestoreOptions) { options.URL = "/tmp/kept" }, "which pods do not reach"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, server.URL(test.url))
			_, err := y.restore(t.Context(), func(options *RestoreOptions) { test.change(y, options) })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			for _, did := range y.did() {
				if strings.HasPrefix(did, "restore-node") {
					t.Errorf("it did %s", did)
				}
			}
		})
	}
}

// With --replace, the data of a network whose disks were retained is that of the backup,
// and its keys and genesis document stay.
func TestRestoreReplaces(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("kept"))
	network := y.stop()
	_, err := y.backup()
	y.must(err)
	want := map[string]map[string]string{}
	for _, node := range nodeNames {
		want[node] = y.data(node)
		y.write(node, "blobs/0", "later")
		y.write(node, "blobs/1", "later")
	}
	// The cluster would delete what the network owns with it.
	y.must(y.client.Delete(t.Context(), network))
	y.disown()
	if _, err := y.restore(t.Context()); err == nil || !strings.Contains(err.Error(), "with --replace") {
		t.Errorf("the error is %v", err)
	}
	var marked atomic.Int64
	y.before = func(command string, _ map[string]string) error {
		if command == "restore-node" && y.genesisMark() != "" {
			marked.Add(1)
		}
		return nil
	}
	_, err = y.restore(t.Context(), func(options *RestoreOptions) {
		options.Replace = true
		options.Manifest = []byte(strings.Replace(networkManifest, "size: 1Gi", "size: 1Gi, retention: Retain", 1))
	})
	y.must(err)
	for _, node := range nodeNames {
		if got := y.data(node); !maps.Equal(got, want[node]) {
			t.Errorf("%s has %v, want %v", node, got, want[node])
		}
	}
	// Its keys let the operator make nodes.
	if marked.Load() != 4 || y.genesisMark() != "" {
		t.Errorf("of 4 disks, %d are filled while the genesis document says so, which says %q in the end", marked.Load(), y.genesisMark())
	}
	y.checkClean()
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

// Who may make pods and forward no ports is told, and does not wait for as long as a pod may run.
func TestRestoresThatReachNoPod(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("kept"))
	y.stop()
	_, err := y.backup()
	y.must(err)
	for name, refusal := range map[string]error{
		"at once": apierrors.NewForbidden(corev1.Resource("pods/portforward"), "pod", errors.New("no")),
		"in time": errors.New("unable to upgrade connection"),
	} {
		y.options.poll = time.Millisecond
		_, err = y.restore(t.Context(), func(options *RestoreOptions) {
			options.Forward = func(context.Context, *corev1.Pod, int, func(string) error) error { return refusal }
		})
		if !errors.Is(err, refusal) || !strings.Contains(err.Error(), "read the backup: pod backup-contents-") {
			t.Errorf("%s: the error is %v", name, err)
		}
		y.options.poll = 20 * time.Millisecond
		y.checkClean()
	}
}
