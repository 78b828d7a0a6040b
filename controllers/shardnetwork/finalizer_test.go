// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// The storage class of a network goes with it.
func TestStorageClass(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20000, ThroughputMebibytesPerSecond: 1144}
		network.Spec.Volume.Size.Set(1 << 30)
	})
	cluster.mustReconcile(network)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network)}}
	cluster.read(class)
	if class.Parameters["provisioned-iops-on-create"] != "20000" {
		t.Errorf("the class has the parameters %v", class.Parameters)
	}

	if err := cluster.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	if err := cluster.reconcile(network); err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{class, network} {
		if err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%T %s is still there: %v", object, object.GetName(), err)
		}
	}
}
