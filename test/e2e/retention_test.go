// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const retentionNamespace = "retained"

// testRetention deletes a network that keeps its disks and makes it again: the
// chain goes on. So it does when the network was stopped, and when all that there is of it
// comes from a backup. Then it lets go of the
// disks, its lifetime ends, and nothing stays. Most of the time it waits for
// lifetimes to end, so other parts run beside it.
func (c *cluster) testRetention(t *testing.T) {
	t.Parallel()
	c.newNamespace(t, retentionNamespace, "restricted")
	spec := newSpecOfFour()
	spec.Volume = &v1alpha1.VolumeSpec{Size: oneGibibyte, Retention: v1alpha1.VolumeRetentionRetain}
	first := c.create(t, retentionNamespace, "retained", &spec)
	hash, height := first.waitForHeight(t, blocksAfter)
	first.remove(t)
	first.waitUntilGone(t)

	second := c.create(t, retentionNamespace, "retained", &spec)
	if again, _ := second.waitForHeight(t, height+1); again != hash {
		t.Errorf("the genesis hash is %s, want %s as before", again, hash)
	}
	second.testStop(t, second.testBackup)
	second.patch(t, `{"volume": {"retention": "Delete"}}`)
	second.waitFor(t, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
	second.patch(t, `{"lifetime": {"durationSeconds": 60, "action": "Delete"}}`)
	second.waitForEnd(t)
}

// waitForHeight waits until the network is ready and reports a finalised height.
// It returns the hash of the genesis and the height.
func (n *network) waitForHeight(t *testing.T, least int64) (hash string, height int64) {
	t.Helper()
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	eventually(t, fmt.Sprintf("height %d of %s", least, n.name), func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		if live.Status.FinalizedHeight == nil || *live.Status.FinalizedHeight < least {
			return fmt.Errorf("its status is %+v", live.Status)
		}
		hash, height = live.Status.GenesisHash, *live.Status.FinalizedHeight
		return nil
	})
	return hash, height
}
