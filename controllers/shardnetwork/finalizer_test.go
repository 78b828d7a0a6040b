// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// The storage classes of a network go with it.
func TestStorageClass(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20000, ThroughputMebibytesPerSecond: 1144}
		network.Spec.Volume.Size.Set(1 << 30)
		network.Spec.Regions, network.Spec.RPCNodes = nil, 1
		network.Spec.Volume.Roles = []v1alpha1.RoleVolume{{Role: v1alpha1.NodeRoleRPC, IOPS: 3000}}
		network.Spec.Volume.Roles[0].Size.Set(1 << 30)
	})
	cluster.mustReconcile(network)
	ofRPC := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network) + ".rpc"}}
	cluster.read(ofRPC)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network)}}
	cluster.read(class)
	if class.Parameters["provisioned-iops-on-create"] != "20000" {
		t.Errorf("the class has the parameters %v", class.Parameters)
	}

	// What becomes of the disks may change, and the class cannot.
	network.Spec.Volume.Retention = v1alpha1.VolumeRetentionRetain
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	if err := cluster.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	if err := cluster.reconcile(network); err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{class, ofRPC, network} {
		if err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%T %s is still there: %v", object, object.GetName(), err)
		}
	}
}

// A storage class that the cache does not have yet goes with its network as well.
func TestStorageClassThatTheCacheLacks(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20000}
		network.Spec.Volume.Size.Set(1 << 30)
	})
	cluster.mustReconcile(network)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network)}}
	cluster.read(class)
	if err := cluster.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.reconciler.client = interceptor.NewClient(cluster.reconciler.client.(client.WithWatch), interceptor.Funcs{
		Get: func(
			ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			if _, ok := object.(*storagev1.StorageClass); ok {
				return apierrors.NewNotFound(storagev1.Resource("storageclasses"), key.Name)
			}
			return next.Get(ctx, key, object, options...)
		},
	})
	if err := cluster.reconcile(network); err != nil {
		t.Fatal(err)
	}
	if err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(class), class); !apierrors.IsNotFound(err) {
		t.Errorf("the class is still there: %v", err)
	}
}

// A class of the network's name that somebody else made stays.
func TestForeignStorageClass(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart"}}
	class := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: resources.StorageClassName(network)},
		Provisioner: "example.com/other",
	}
	if err := cluster.client.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	network = cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20000}
		network.Spec.Volume.Size.Set(1 << 30)
	})
	if err := cluster.reconcile(network); err == nil {
		t.Error("the reconciliation succeeds")
	}
	cluster.read(network)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
	if err := cluster.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	if err := cluster.reconcile(network); err != nil {
		t.Fatal(err)
	}
	cluster.read(class)
	if err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(network), network); !apierrors.IsNotFound(err) {
		t.Errorf("the network is still there: %v", err)
	}
}
