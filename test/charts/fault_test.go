// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
)

// testFault checks that the operator takes a fault on, as far as that goes without its
// network, and lets it go.
func (c cluster) testFault(t *testing.T) {
	fault, err := manifest.ReadFault("../../config/samples/fault/delay-producer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), fault); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(fault), fault); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonNetworkWaits {
			return fmt.Errorf("the status is %+v", fault.Status)
		}
		return nil
	})
	if err := c.Delete(t.Context(), fault); err != nil {
		t.Error(err)
	}
}
