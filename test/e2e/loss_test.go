// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

// blocksAfter is how many blocks tell that a chain goes on.
const blocksAfter = 20

// testLoss takes a validator away without a warning. The others go on, and the
// validator comes back to the same chain.
func (n *network) testLoss(t *testing.T) {
	lost := n.plan(t).Nodes[0].Name
	witness := n.watch(t)
	before := n.mustPods(t)[resources.PodName(lost)]
	if err := n.Delete(t.Context(), before, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}

	eventually(t, lost+" to be back", func(ctx context.Context) error {
		pods, err := n.pods(ctx)
		if err != nil {
			return err
		}
		switch pod := pods[before.Name]; {
		case pod == nil:
			return errors.New("it has no pod")
		case pod.UID == before.UID:
			return errors.New("its pod is the same")
		case !ready(pod):
			return errors.New("its pod is not ready")
		}
		return nil
	})
	back := witness.height()
	eventually(t, "the chain to go on with "+lost, func(context.Context) error {
		if height := witness.confirmed(lost); height < back+blocksAfter {
			return fmt.Errorf("its state is that of the chain up to height %d, want %d", height, back+blocksAfter)
		}
		return nil
	})
	witness.check(t)
}
