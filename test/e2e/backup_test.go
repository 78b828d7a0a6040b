// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

// backupBucketNamespace is where the bucket of backups is.
const backupBucketNamespace = "backup-buckets"

// testBackup keeps a network that is stopped in a bucket, removes all that there is of it,
// disks and keys included, and restores it: its chain goes on where it was.
func (n *network) testBackup(t *testing.T, hash string, height int64) {
	t.Helper()
	place := inBucket(n.startBucket(t, backupBucketNamespace, n.namespace), "networks/"+n.name)
	shardyard := newProgram(t, "SHARDYARD", "HOME="+t.TempDir(), "KUBECONFIG="+n.kubeconfig)
	in := []string{"--namespace", n.namespace, "--secret", bucketSecret}
	said := shardyard.mustRun(t, append([]string{"backup", place, "--network", n.name}, in...)...)
	if !strings.Contains(said, "genesis hash "+hash) {
		t.Errorf("the backup of the chain %s says %s", hash, said)
	}
	if _, err := shardyard.run(t.Context(), "", append([]string{"restore", place}, in...)...); err == nil ||
		!strings.Contains(err.Error(), "is there already") {
		t.Errorf("a restore beside the network ends with %v", err)
	}

	n.remove(t)
	n.waitUntilGone(t)
	for _, kind := range []client.Object{&corev1.PersistentVolumeClaim{}, &corev1.Secret{}, &corev1.ConfigMap{}} {
		if err := n.DeleteAllOf(t.Context(), kind, client.InNamespace(n.namespace),
			client.MatchingLabels{resources.LabelNetwork: n.name}); err != nil {
			t.Fatal(err)
		}
	}
	n.waitForEnd(t)

	manifest := shardyard.mustRun(t, append([]string{"restore", place}, in...)...)
	if _, err := n.kubectl.run(t.Context(), manifest, "apply", "--filename", "-"); err != nil {
		t.Fatal(err)
	}
	// Nodes that have just begun tell of genesis alone. A chain that began anew would have
	// the same one, and be far lower afterwards.
	eventually(t, "the restored chain", func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		if live.Status.FinalizedHeight == nil || *live.Status.FinalizedHeight == 0 {
			return errors.New("nobody told of a block yet")
		}
		if found := *live.Status.FinalizedHeight; found < height/2 {
			t.Errorf("the chain is at height %d, and was at %d", found, height)
		}
		return nil
	})
}

// waitUntilGone waits until the network itself is deleted. Its disks and keys may stay.
func (n *network) waitUntilGone(t *testing.T) {
	t.Helper()
	eventually(t, "the deletion of "+n.name, func(ctx context.Context) error {
		if _, err := n.read(ctx); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("it is there (%w)", err)
		}
		return nil
	})
}
