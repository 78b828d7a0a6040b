// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// patch changes the spec of a network.
func (n *network) patch(t *testing.T, spec string) {
	t.Helper()
	content := []byte(`{"spec": ` + spec + `}`)
	if err := n.Patch(t.Context(), n.mustRead(t), client.RawPatch(types.MergePatchType, content)); err != nil {
		t.Fatal(err)
	}
}

// testStop lets the lifetime of a network end, which stops it, and then gives it
// more time: the same chain goes on. Meanwhile something is done with it, which is told
// what the chain is and how high it was.
func (n *network) testStop(t *testing.T, meanwhile func(t *testing.T, hash string, height int64)) {
	t.Helper()
	hash, height := n.waitForHeight(t, blocksAfter)
	known, block := height, n.blockHash(t, height)
	n.patch(t, `{"lifetime": {"durationSeconds": 60, "action": "Stop"}}`)
	eventually(t, "the end of the lifetime of "+n.name, func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		height = max(height, ptr.Deref(live.Status.FinalizedHeight, 0))
		if meta.IsStatusConditionTrue(live.Status.Conditions, v1alpha1.ConditionWithinLifetime) {
			return errors.New("it goes on")
		}
		return nil
	})
	n.waitFor(t, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStopped)
	if pods := n.mustPods(t); len(pods) > 0 {
		t.Errorf("a stopped network has %d pods", len(pods))
	}
	meanwhile(t, hash, height)
	n.patch(t, `{"lifetime": null}`)
	if again, _ := n.waitForHeight(t, height+1); again != hash {
		t.Errorf("the genesis hash is %s, want %s as before", again, hash)
	}
	// A chain that began anew has the same genesis, and other blocks.
	if again := n.blockHash(t, known); again != block {
		t.Errorf("the block at height %d is %s, want %s as before", known, again, block)
	}
}

// blockHash asks a node for the hash of a finalised block.
func (n *network) blockHash(t *testing.T, height int64) (hash string) {
	t.Helper()
	validator := n.plan(t).Nodes[0].Name
	api := n.api(t, validator)
	eventually(t, fmt.Sprintf("block %d of %s", height, validator), func(ctx context.Context) error {
		block, err := api.Block(ctx, uint64(height))
		if err != nil {
			return err
		}
		hash = block.Hash
		return nil
	})
	return hash
}
