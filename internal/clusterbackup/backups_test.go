// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/buckets"
)

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

// What a backup that fails has kept for hours takes its time to be removed.
func TestBackupsThatAreLongToRemove(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("long"))
	y.stop()
	hasty := run{Options: &y.options}
	y.before = func(command string, _ map[string]string) error {
		switch command {
		case "clear-backup":
			<-time.After(2 * hasty.haste())
			return nil
		case "seal-backup":
			return errors.New("the quota is used up")
		default:
			return nil
		}
	}
	if _, err := y.backup(); err == nil || !strings.Contains(err.Error(), "the quota is used up") || strings.Contains(err.Error(), "left") {
		t.Errorf("the error is %v", err)
	}
	y.checkClean()
	if left := server.Keys(t); len(left) > 0 {
		t.Errorf("the bucket has %v", left)
	}
}

// A first pod that is killed may leave keys in the bucket, and nobody else knows whether what
// is there is its own.
func TestBackupsWhoseFirstPodIsKilled(t *testing.T) {
	server := buckets.Serve(t)
	y := newYard(t, server.URL("killed"))
	y.stop()
	y.before = func(string, map[string]string) error {
		server.Put(t, "killed/manifest.yaml", []byte("its own"))
		return y.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(y.namespace), client.GracePeriodSeconds(0))
	}
	if _, err := y.backup(); err == nil || !strings.Contains(err.Error(), "may have left files of the network at "+y.options.URL) {
		t.Errorf("the error is %v", err)
	}
	y.checkClean()
}

// A first pod whose creation got no answer may have run to its end, and keys are in the
// bucket then.
func TestBackupsWhoseFirstPodGetsNoAnswer(t *testing.T) {
	server := buckets.Serve(t)
	lost := errors.New("connection lost")
	for name, test := range map[string]struct {
		made   bool
		answer error
		left   bool
	}{
		"no answer":         {true, lost, true},
		"a broken gateway":  {true, apierrors.NewGenericServerResponse(502, "post", corev1.Resource("pods"), "", "", 0, true), true},
		"a second attempt":  {true, apierrors.NewAlreadyExists(corev1.Resource("pods"), "backup-network"), true},
		"no rights to pods": {false, apierrors.NewForbidden(corev1.Resource("pods"), "backup-network", lost), false},
	} {
		y := newYard(t, server.URL(strings.ReplaceAll(name, " ", "-")))
		y.stop()
		direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: y.client.Scheme()})
		y.must(err)
		var unseen atomic.Bool
		y.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
			Create: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if pod, isPod := object.(*corev1.Pod); isPod {
					unseen.Store(test.made)
					if test.made {
						y.must(next.Create(ctx, pod.DeepCopy(), options...))
					}
					return test.answer
				}
				return next.Create(ctx, object, options...)
			},
			List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				err := next.List(ctx, list, options...)
				if pods, ok := list.(*corev1.PodList); ok && unseen.Load() && err == nil {
					if len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodSucceeded {
						return apierrors.NewServiceUnavailable("the API server is away")
					}
					unseen.Store(false)
				}
				return err
			},
		})
		_, err = y.backup()
		warning := "may have left files of the network at " + y.options.URL + ", with keys"
		if !errors.Is(err, test.answer) || strings.Contains(err.Error(), warning) != test.left {
			t.Errorf("%s: the error is %v", name, err)
		}
		y.checkClean()
		if left := server.Keys(t); (len(left) > 0) != test.left {
			t.Errorf("%s: the bucket has %v", name, left)
		}
		for _, key := range server.Keys(t) {
			server.Remove(t, key)
		}
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
	_, late := (&net.Dialer{Timeout: time.Nanosecond}).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if !errors.Is(late, context.DeadlineExceeded) {
		t.Fatalf("a connection that takes too long ends with %v", late)
	}
	away := apierrors.NewServiceUnavailable("the API server is away")
	for name, test := range map[string]struct {
		failures int64
		failure  error
		want     string
	}{
		"a moment":                   {20, away, ""},
		"a moment without an answer": {20, late, ""},
		"for good":                   {1 << 40, away, "wait for pod backup-network-"},
	} {
		y := newYard(t, server.URL(strings.ReplaceAll(name, " ", "-")))
		y.stop()
		direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: y.client.Scheme()})
		y.must(err)
		var asked atomic.Int64
		y.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
			Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, isPod := object.(*corev1.Pod); isPod && asked.Add(1) <= test.failures {
					return test.failure
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

// A policy that was made although nobody said so does not stay.
func TestBackupsThatDoNotBegin(t *testing.T) {
	y := newYard(t, buckets.Serve(t).URL("kept"))
	y.stop()
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: y.client.Scheme()})
	y.must(err)
	y.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.CreateOption) error {
			err := next.Create(ctx, object, options...)
			if _, isPolicy := object.(*networkingv1.NetworkPolicy); isPolicy && err == nil {
				err = context.DeadlineExceeded
			}
			return err
		},
	})
	if _, err := y.backup(); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "kubectl") {
		t.Errorf("the error is %v", err)
	}
	y.checkClean()
}

// An API server that is away for a moment while a backup ends leaves nothing of it.
func TestBackupsThatEndDuringOutages(t *testing.T) {
	y := newYard(t, buckets.Serve(t).URL("kept"))
	y.stop()
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: y.client.Scheme()})
	y.must(err)
	var asked atomic.Int64
	y.options.Client = interceptor.NewClient(direct, interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			// Twice, it looks for pods of the network, which is stopped.
			if asked := asked.Add(1); asked > 2 && asked < 6 {
				return apierrors.NewServiceUnavailable("the API server is away")
			}
			return next.List(ctx, list, options...)
		},
	})
	if _, err = y.backup(); err != nil || strings.Contains(y.said.String(), "warning") || asked.Load() < 6 {
		t.Errorf("after %d lists, the error is %v, and it says %s", asked.Load(), err, y.said.String())
	}
	y.checkClean()
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
	if _, err := y.backup(); err == nil || !strings.Contains(err.Error(), "s3://kept/taken is not empty") ||
		strings.Contains(err.Error(), "left") {
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
