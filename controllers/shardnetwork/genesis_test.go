// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// A key that is lost is never made again: the chain knows another one.
func TestLostKey(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-s1-p0-key"}}
	cluster.read(key)
	if err := cluster.client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}

	cluster.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonKeyMissing)
	if !strings.Contains(message, "quickstart-s1-p0-key") {
		t.Errorf("the message does not name the Secret: %s", message)
	}
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonKeyMissing)
	check(t, network, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonKeyMissing)
	if _, found := cluster.objects(network.Name)["Secret/quickstart-s1-p0-key"]; found {
		t.Error("the key was made again")
	}

	restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Labels: key.Labels, OwnerReferences: key.OwnerReferences,
	}, Data: key.Data}
	if err := cluster.client.Create(t.Context(), restored); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
}

// A genesis document that is lost is never made again: the validators have
// another one.
func TestLostGenesis(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	genesis := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-genesis"}}
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-s0-p0-key"}}
	if err := cluster.client.Delete(t.Context(), genesis); err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Image = "other:2"
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisMissing)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
	check(t, network, v1alpha1.ConditionUpdated, metav1.ConditionUnknown, v1alpha1.ReasonObjectsPending)

	if err := cluster.client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonKeyMissing)
	for name := range cluster.objects(network.Name) {
		if name == "ConfigMap/quickstart-genesis" || name == "Secret/quickstart-s0-p0-key" {
			t.Errorf("%s was made again", name)
		}
	}
}

// What an earlier network of the name still owns goes with that one, whatever of it goes
// first.
func TestPredecessorOnItsWay(t *testing.T) {
	t.Parallel()
	for name, remains := range map[string]string{"with all it has": "", "with its StatefulSets": "StatefulSet/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			first := cluster.create()
			cluster.mustReconcile(first)
			if err := cluster.client.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			for name, object := range cluster.objects(first.Name) {
				if strings.HasPrefix(name, remains) {
					continue
				}
				if err := cluster.client.Delete(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			second := cluster.create(func(network *v1alpha1.ShardNetwork) {
				network.Spec.Volume = &v1alpha1.VolumeSpec{Retention: v1alpha1.VolumeRetentionRetain}
				network.Spec.Volume.Size.Set(1 << 30)
			})
			if err := cluster.reconcile(second); err == nil {
				t.Error("the reconciliation succeeds")
			}
			cluster.read(second)
			check(t, second, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonPredecessorRemains)
			check(t, second, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)
			for name, object := range cluster.objects(first.Name) {
				if metav1.IsControlledBy(object, second) {
					t.Errorf("%s is made while the other network's StatefulSets are there", name)
				}
			}
		})
	}
}

// What a network keeps is taken over by the next one of its name, if that is
// the same chain.
func TestRetained(t *testing.T) {
	t.Parallel()
	retain := func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{Retention: v1alpha1.VolumeRetentionRetain}
		network.Spec.Volume.Size.Set(1 << 30)
	}
	cluster := newCluster(t)
	first := cluster.create(retain)
	cluster.mustReconcile(first)
	kept := 0
	for name, object := range cluster.objects(first.Name) {
		if owner := metav1.GetControllerOf(object); owner == nil {
			kept++
			continue
		}
		if strings.HasPrefix(name, "Secret/") || strings.HasSuffix(name, "-genesis") {
			t.Errorf("%s goes with its network", name)
		}
		// There is no garbage collector here.
		if err := cluster.client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if kept != 6 {
		t.Errorf("%d objects are kept, want 4 keys, the admin token and the genesis document", kept)
	}
	if err := cluster.client.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}

	other := cluster.create(retain, func(network *v1alpha1.ShardNetwork) {
		network.Spec.Genesis.Seed = "other"
	})
	cluster.mustReconcile(other)
	message := check(t, other, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisMismatch)
	if !strings.Contains(message, "spec.genesis.seed is another") {
		t.Errorf("the message is %s", message)
	}
	check(t, other, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
	if err := cluster.client.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}

	second := cluster.create(retain)
	cluster.mustReconcile(second)
	check(t, second, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	// Now it shall go with the network after all.
	second.Spec.Volume.Retention = v1alpha1.VolumeRetentionDelete
	if err := cluster.client.Update(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(second)
	for name, object := range cluster.objects(second.Name) {
		if !metav1.IsControlledBy(object, second) {
			t.Errorf("%s is not deleted with its network", name)
		}
	}
}

// Of a network that is restored, the genesis document comes first and the keys last:
// before they are all there, no validator is made, and then it is the same chain.
func TestRestored(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	first := cluster.create()
	cluster.mustReconcile(first)
	before := cluster.objects(first.Name)
	for _, object := range before {
		// There is no garbage collector here.
		if err := cluster.client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if err := cluster.client.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	plan, err := topology.New(first)
	if err != nil {
		t.Fatal(err)
	}
	document := resources.GenesisFile(before["ConfigMap/quickstart-genesis"].(*corev1.ConfigMap))
	made := []client.Object{resources.RestoredGenesis(first, []byte(document))}
	for _, node := range plan.Nodes {
		key := before["Secret/"+resources.KeyName(node.Name)].(*corev1.Secret)
		made = append(made, resources.RestoredKey(first, node, resources.KeyFile(key)))
	}

	var second *v1alpha1.ShardNetwork
	for i, object := range made {
		if err := cluster.client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if second == nil {
			second = cluster.create()
		}
		cluster.mustReconcile(second)
		if i < len(made)-1 {
			check(t, second, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonKeyMissing)
			if _, found := cluster.objects(second.Name)["StatefulSet/quickstart-s0-p0"]; found {
				t.Fatalf("there are validators after %d of %d objects", i+1, len(made))
			}
		}
	}
	check(t, second, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
	after := cluster.objects(second.Name)
	if again := resources.GenesisFile(after["ConfigMap/quickstart-genesis"].(*corev1.ConfigMap)); again != document {
		t.Errorf("the genesis document is %s, want %s", again, document)
	}
	for _, object := range after {
		if !metav1.IsControlledBy(object, second) {
			t.Errorf("%s is not deleted with its network", object.GetName())
		}
	}
}

// While a backup is put back onto the disks of a network that kept its keys, no node is
// made, and nodes that are there stay.
func TestRestoredUnderWay(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	first := cluster.create()
	cluster.mustReconcile(first)
	before := cluster.objects(first.Name)
	document := before["ConfigMap/quickstart-genesis"].(*corev1.ConfigMap)
	mark := func(document *corev1.ConfigMap, state string) {
		t.Helper()
		old := document.DeepCopy()
		document.Annotations = map[string]string{resources.AnnotationRestore: state}
		if err := cluster.client.Patch(t.Context(), document, client.MergeFrom(old)); err != nil {
			t.Fatal(err)
		}
	}
	mark(document, "it")
	cluster.mustReconcile(first)
	check(t, first, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)

	other := newCluster(t)
	kept := first.DeepCopy()
	kept.Namespace = other.namespace
	plan, err := topology.New(kept)
	if err != nil {
		t.Fatal(err)
	}
	restored := resources.RestoredGenesis(kept, []byte(resources.GenesisFile(document)))
	restored.Annotations = map[string]string{resources.AnnotationRestore: "it"}
	made := []client.Object{restored}
	for _, node := range plan.Nodes {
		key := before["Secret/"+resources.KeyName(node.Name)].(*corev1.Secret)
		made = append(made, resources.RestoredKey(kept, node, resources.KeyFile(key)))
	}
	for _, object := range made {
		if err := other.client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	second := other.create()
	other.mustReconcile(second)
	message := check(t, second, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisPending)
	if _, found := other.objects(second.Name)["StatefulSet/quickstart-s0-p0"]; found || !strings.Contains(message, "is being put back") {
		t.Errorf("there are validators before all disks are full: %s", message)
	}
	mark(restored, "")
	other.mustReconcile(second)
	check(t, second, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
}

// What has a name that the network needs and belongs to somebody else is left
// alone.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]interface {
		metav1.Object
	}{
		"Service quickstart-p2p":  &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		"Secret quickstart-admin": &corev1.Secret{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			_, objectName, _ := strings.Cut(name, " ")
			object.SetNamespace(cluster.namespace)
			object.SetName(objectName)
			switch object := object.(type) {
			case *corev1.Service:
				if err := cluster.client.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			case *corev1.Secret:
				if err := cluster.client.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			network := cluster.create()
			if err := cluster.reconcile(network); err == nil {
				t.Error("the reconciliation succeeds")
			}
			cluster.read(network)
			message := check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
			if !strings.Contains(message, "the "+name+" belongs to somebody else") {
				t.Errorf("the message is %s", message)
			}
			check(t, network, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNameTaken)
		})
	}
}
