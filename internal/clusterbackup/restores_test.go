// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/buckets"
)

// A restore that is interrupted lets no node start, and is gone on with.
func TestRestoresThatAreInterrupted(t *testing.T) {
	server := buckets.Serve(t)
	from := newKept(t, server.URL("kept"))

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
	_, err := to.restore(t.Context())
	to.must(err)
	want := []string{"serve-backup", "formats", "restore-node net-s1-p0", "restore-node net-s1-p1"}
	if did := to.did(); !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
	to.checkClean()
	to.checkRestored(from)
}

// A restore that is interrupted while it replaces retained disks leaves older data beside
// later: only one of all of its nodes takes its mark away, of whichever backup.
func TestRestoresOfFewerNodes(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("kept"))
	network := y.stop()
	_, err := y.backup()
	y.must(err)
	y.options.URL = server.URL("part")
	_, err = y.backup("net-s1-p0")
	y.must(err)
	y.options.URL = server.URL("kept")
	want := y.goOn(network)
	y.options.AtOnce = 1
	y.before = func(command string, given map[string]string) error {
		if command == "restore-node" && given["node"] == "net-s1-p0" {
			return errors.New("the machine is gone")
		}
		return nil
	}
	replace := func(options *RestoreOptions) { options.Replace = true }
	if _, err := y.restore(t.Context(), replace); err == nil || !strings.Contains(err.Error(), "put back the data of net-s1-p0") {
		t.Fatalf("the error is %v", err)
	}
	y.before = func(string, map[string]string) error { return nil }
	marked := y.genesisMark()
	y.did()
	for name, test := range map[string]struct {
		url   string
		nodes []string
		left  string
	}{
		"one that had its turn next": {"kept", []string{"net-s1-p0"}, "net-s0-p0"},
		"those that are not filled":  {"kept", []string{"net-s1-p0", "net-s1-p1"}, "net-s0-p0"},
		"all but the last":           {"kept", nodeNames[:3], "net-s1-p1"},
		"another backup":             {"part", nil, "net-s0-p0"},
	} {
		_, err := y.restore(t.Context(), replace, func(options *RestoreOptions) {
			options.URL, options.Nodes = server.URL(test.url), test.nodes
		})
		want := "an earlier restore of network net did not come to its end: put back at least all of its nodes, " + test.left + " is one of them"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", name, err, want)
		}
		if did := y.did(); !slices.Equal(did, []string{"serve-backup"}) || marked == "" || y.genesisMark() != marked {
			t.Errorf("%s: it did %v, and the genesis document says %q, and said %q", name, did, y.genesisMark(), marked)
		}
	}
	_, err = y.restore(t.Context(), replace)
	y.must(err)
	left := []string{"serve-backup", "formats", "restore-node net-s1-p0", "restore-node net-s1-p1"}
	if did := y.did(); !slices.Equal(did, left) {
		t.Errorf("it did %v, want %v", did, left)
	}
	y.checkData(want)
	if mark := y.genesisMark(); mark != "" {
		t.Errorf("the genesis document says %q", mark)
	}
	y.checkClean()
}

// A restore that fails once all disks are full is gone on with as well.
func TestRestoresThatGetNoKeys(t *testing.T) {
	server := buckets.Serve(t)
	from := newKept(t, server.URL("kept"))

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
	newKept(t, server.URL("kept"))
	for name, test := range map[string]struct {
		disturb func(y *yard) error
		want    string
	}{
		"a claim goes": {func(y *yard) error {
			claim := &corev1.PersistentVolumeClaim{}
			claim.Namespace, claim.Name = y.namespace, resources.ClaimName("net-s0-p0")
			claim.Finalizers = nil
			return y.client.Delete(context.Background(), claim)
		}, "data-net-s0-p0-0 is of a restore of this network that did not come to its end, and somebody deleted it: wait"},
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
		"a genesis document that a network took over too early": {"kept", func(y *yard, _ *RestoreOptions) {
			here := network.DeepCopy()
			here.Namespace = y.namespace
			document := resources.RestoredGenesis(here, []byte("{}"))
			document.Annotations = map[string]string{resources.AnnotationRestore: "a-b"}
			document.OwnerReferences = []metav1.OwnerReference{resources.OwnerReference(network)}
			y.must(y.client.Create(t.Context(), document))
		}, "net-genesis is of a restore of this network that did not come to its end, and the ShardNetwork net, which was applied before"},
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
	want := y.goOn(network)
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
		options.Manifest = []byte(strings.Replace(networkManifest, "size: 1Gi", "size: 1Gi, retention: Retain, storageClassName: fast", 1))
	})
	y.must(err)
	// The disks are there, and of no class.
	if said := y.said.String(); strings.Count(said, `which has the StorageClass "", where the manifest says "fast"`) != 4 {
		t.Errorf("it says %s", said)
	}
	y.checkData(want)
	// Its keys let the operator make nodes.
	if marked.Load() != 4 || y.genesisMark() != "" {
		t.Errorf("of 4 disks, %d are filled while the genesis document says so, which says %q in the end", marked.Load(), y.genesisMark())
	}
	y.checkClean()
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
