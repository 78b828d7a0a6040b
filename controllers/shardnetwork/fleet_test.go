// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
)

// What each cluster has of a quickstart with two validators in each.
var (
	hereObjects = []string{
		"ConfigMap/quickstart-genesis",
		"ConfigMap/quickstart-peers",
		"ConfigMap/quickstart-s0-p0-config",
		"ConfigMap/quickstart-s1-p1-config",
		"NetworkPolicy/quickstart",
		"PodDisruptionBudget/quickstart",
		"Secret/quickstart-admin",
		"Secret/quickstart-s0-p0-key",
		"Secret/quickstart-s1-p1-key",
		"Service/quickstart-p2p",
		"Service/quickstart-rpc",
		"StatefulSet/quickstart-s0-p0",
		"StatefulSet/quickstart-s1-p1",
	}
	thereObjects = []string{
		"ConfigMap/quickstart-genesis",
		"ConfigMap/quickstart-peers",
		"ConfigMap/quickstart-s0-p1-config",
		"ConfigMap/quickstart-s1-p0-config",
		"NetworkPolicy/quickstart",
		"PodDisruptionBudget/quickstart",
		"Secret/quickstart-admin",
		"Secret/quickstart-s0-p1-key",
		"Secret/quickstart-s1-p0-key",
		"Service/quickstart-p2p",
		"Service/quickstart-rpc",
		"StatefulSet/quickstart-s0-p1",
		"StatefulSet/quickstart-s1-p0",
	}
)

// Each cluster has its own validators and their keys, and all have the same
// genesis document and know where all peers are.
func TestNetworkOverTwoClusters(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)

	objects := there.objects(network.Name)
	checkObjects(t, names(here.objects(network.Name)), hereObjects)
	checkObjects(t, names(objects), thereObjects)
	for name, object := range objects {
		if len(object.GetOwnerReferences()) > 0 {
			t.Errorf("%s has an owner that its cluster does not know: %v", name, object.GetOwnerReferences())
		}
		if object.GetLabels()[resources.LabelNetworkUID] != string(network.UID) {
			t.Errorf("%s does not say of which network it is: %v", name, object.GetLabels())
		}
	}
	genesis := objects["ConfigMap/quickstart-genesis"].(*corev1.ConfigMap)
	if document := here.genesis(network); resources.GenesisFile(genesis) != resources.GenesisFile(document) {
		t.Error("the clusters have different genesis documents")
	}
	want := map[string]string{
		"quickstart-s0-p0": "cluster.local",
		"quickstart-s0-p1": "far.example",
		"quickstart-s1-p0": "far.example",
		"quickstart-s1-p1": "cluster.local",
	}
	for validator, cluster := range map[string]*cluster{"quickstart-s0-p0": here, "quickstart-s0-p1": there.cluster} {
		peers := cluster.peers(validator)
		if len(peers) != len(want) {
			t.Errorf("%s knows %d nodes, want %d", validator, len(peers), len(want))
		}
		for _, peer := range peers {
			address := fmt.Sprintf("%s-0.quickstart-p2p.%s.svc.%s:26600", peer.Name, here.namespace, want[peer.Name])
			if peer.Address != address {
				t.Errorf("%s knows %s at %s, want %s", validator, peer.Name, peer.Address, address)
			}
		}
	}
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionTrue, v1alpha1.ReasonAllClustersAvailable)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
	if message := check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied); message !=
		"2 clusters have all 18 objects of the network" {
		t.Errorf("the message is %q", message)
	}
}

// The clusters keep what the network is made of, and repair each other's part of
// nothing: what somebody changes in a member is put back.
func TestDriftInMember(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)

	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: there.namespace, Name: "quickstart-s0-p1"}}
	there.read(set)
	set.Spec.Template.Spec.Containers[0].Image = "other:1"
	if err := there.client.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := there.client.Delete(t.Context(), there.objects(network.Name)["Service/quickstart-p2p"]); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		there.read(set)
		if image := set.Spec.Template.Spec.Containers[0].Image; image != "shardnode:test" {
			return fmt.Errorf("the image is %s", image)
		}
		if _, ok := there.objects(network.Name)["Service/quickstart-p2p"]; !ok {
			return errors.New("the Service is gone")
		}
		return nil
	})
}

// Without a member there is no genesis document, because nobody knows the keys
// that it has to name; nothing is begun that would be wrong later.
func TestMemberUnavailableFromTheStart(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	there.gate.set(true)
	network := here.createSpanning()
	here.mustReconcile(network)

	checkObjects(t, names(here.objects(network.Name)), nil)
	message := check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	if !strings.Contains(message, "the cluster far cannot be used now: ") {
		t.Errorf("the message is %q", message)
	}
	if !strings.HasSuffix(message, "Nothing of the network is made or changed until it can be used") {
		t.Errorf("the message is %q", message)
	}
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionFalse, v1alpha1.ReasonGenesisPending)
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)

	there.gate.set(false)
	here.eventually(network, func() error { return here.has(network, v1alpha1.ConditionApplied, metav1.ConditionTrue) })
	checkObjects(t, names(here.objects(network.Name)), hereObjects)
	checkObjects(t, names(there.objects(network.Name)), thereObjects)
}

// While a member cannot be used, the rest of the network is looked after as
// always; afterwards the member gets what it missed.
func TestMemberUnavailable(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	genesis := here.genesis(network)

	there.gate.set(true)
	network.Spec.Node.Image = "other:2"
	if err := here.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
	if image := here.image("quickstart-s0-p0"); image != "other:2" {
		t.Errorf("the image in the operator's own cluster is %s, want that of the spec", image)
	}
	if image := there.image("quickstart-s0-p1"); image != "shardnode:test" {
		t.Errorf("the image in the member that cannot be used is %s", image)
	}

	// An operator that starts meanwhile knows less, but does no more.
	here.restart()
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)

	there.gate.set(false)
	here.eventually(network, func() error {
		if image := there.image("quickstart-s0-p1"); image != "other:2" {
			return fmt.Errorf("the image is %s", image)
		}
		return here.has(network, v1alpha1.ConditionApplied, metav1.ConditionTrue)
	})
	if after := here.genesis(network); after.UID != genesis.UID || resources.GenesisFile(after) != resources.GenesisFile(genesis) {
		t.Error("the genesis document is another one")
	}
	checkObjects(t, names(here.objects(network.Name)), hereObjects)
	checkObjects(t, names(there.objects(network.Name)), thereObjects)
}

// An operator that starts while the Secret of a member is missing looks after the
// rest of the network as one does that knew it.
func TestMemberSecretMissingFromTheStart(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	config := here.config()

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: here.namespace, Name: far}}
	if err := here.client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Image = "other:2"
	if err := here.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.restart()
	here.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterSecretMissing)
	if !strings.HasSuffix(message, "Nothing is changed for its 2 nodes; the rest of the network goes on") {
		t.Errorf("the message is %q", message)
	}
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable)
	if image := here.image("quickstart-s0-p0"); image != "other:2" {
		t.Errorf("the image in the operator's own cluster is %s, want that of the spec", image)
	}
	if after := here.config(); !reflect.DeepEqual(after, config) {
		t.Errorf("the configuration of a validator is\n%+v\nwant\n%+v", after, config)
	}
	if image := there.image("quickstart-s0-p1"); image != "shardnode:test" {
		t.Errorf("the image in the member that cannot be used is %s", image)
	}
}

// The Secret of a member is made to name another cluster: nothing is made there,
// nothing is taken for gone, and the rest of the network goes on.
func TestMemberReplaced(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	want := []v1alpha1.ClusterStatus{{Name: far, Domain: "far.example", UID: there.uid()}}
	if !reflect.DeepEqual(network.Status.Clusters, want) {
		t.Fatalf("the clusters are %+v, want %+v", network.Status.Clusters, want)
	}
	config := here.config()

	// The operator's own cluster will do for another one.
	other := here.newMember(apiServer)
	other.grantRights()
	secret := other.secret()
	secret.Data[fleet.KeyDomain] = []byte("other.example")
	if err := here.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Image = "other:2"
	if err := here.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	for _, restart := range []bool{false, true} {
		if restart {
			here.restart()
		}
		here.mustReconcile(network)
		message := check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterReplaced)
		for _, uid := range []string{there.uid(), other.uid()} {
			if !strings.Contains(message, uid) {
				t.Errorf("the message does not name the cluster %s: %s", uid, message)
			}
		}
		check(t, network, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonClusterReplaced)
		if !reflect.DeepEqual(network.Status.Clusters, want) {
			t.Errorf("the clusters are %+v, want %+v", network.Status.Clusters, want)
		}
		checkObjects(t, names(here.objects(network.Name)), hereObjects)
		checkObjects(t, names(there.objects(network.Name)), thereObjects)
	}
	if image := here.image("quickstart-s0-p0"); image != "other:2" {
		t.Errorf("the image in the operator's own cluster is %s, want that of the spec", image)
	}
	if after := here.config(); !reflect.DeepEqual(after, config) {
		t.Errorf("the configuration of a validator is\n%+v\nwant\n%+v", after, config)
	}

	// It is not taken for removed either.
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionRemoved, metav1.ConditionFalse, v1alpha1.ReasonClusterReplaced)
	checkObjects(t, names(there.objects(network.Name)), thereObjects)
	if err := here.client.Update(t.Context(), there.secret()); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error { return here.isGone(network) })
	checkObjects(t, names(there.objects(network.Name)), nil)
}

// A cluster that does not say which one it is may be any.
func TestMemberWithoutIdentity(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	there.hideIdentity()
	network := here.createSpanning()
	here.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	if !strings.Contains(message, `namespaces "kube-system" is forbidden`) {
		t.Errorf("the message is %q", message)
	}
	checkObjects(t, names(there.objects(network.Name)), nil)
}

// The operator is killed at any of its writes at home: another one goes on, with
// one genesis document, of the keys that both clusters have.
func TestKilledWhileCreatingInTwoClusters(t *testing.T) {
	t.Parallel()
	for killAfter := int64(1); killAfter <= 10; killAfter += 3 {
		t.Run(fmt.Sprintf("after %d writes", killAfter), func(t *testing.T) {
			t.Parallel()
			here := newCluster(t)
			there := here.joinMember()
			network := here.createSpanning()
			here.killAfter.Store(killAfter)
			if err := here.reconcile(network); !errors.Is(err, errKilled) {
				t.Fatalf("the operator ends with %v", err)
			}
			secrets := map[types.UID]bool{}
			for _, cluster := range []*cluster{here, there.cluster} {
				for _, object := range cluster.objects(network.Name) {
					if _, ok := object.(*corev1.Secret); ok {
						secrets[object.GetUID()] = true
					}
				}
			}

			here.restart()
			here.eventually(network, func() error { return here.has(network, v1alpha1.ConditionApplied, metav1.ConditionTrue) })
			checkObjects(t, names(here.objects(network.Name)), hereObjects)
			checkObjects(t, names(there.objects(network.Name)), thereObjects)
			for _, cluster := range []*cluster{here, there.cluster} {
				for _, object := range cluster.objects(network.Name) {
					delete(secrets, object.GetUID())
				}
			}
			if len(secrets) > 0 {
				t.Errorf("%d Secrets were made anew", len(secrets))
			}
		})
	}
}

// What the member refuses is told, and holds up nothing elsewhere.
func TestMemberRefuses(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)

	there.takeRights()
	network.Spec.Node.Image = "other:2"
	if err := here.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		return here.has(network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse)
	})
	message := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionClustersAvailable).Message
	if !strings.Contains(message, "forbidden") {
		t.Errorf("the message is %q", message)
	}
	if image := here.image("quickstart-s0-p0"); image != "other:2" {
		t.Errorf("the image in the operator's own cluster is %s, want that of the spec", image)
	}
}

func TestMemberSecrets(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	network := here.createSpanning()
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterSecretMissing)

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: here.namespace, Name: far}}
	if err := here.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionFalse, v1alpha1.ReasonClusterSecretInvalid)

	if err := here.client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	here.joinMember()
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionTrue, v1alpha1.ReasonAllClustersAvailable)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	// Another token is taken up as it comes.
	here.read(secret)
	secret.Data[fleet.KeyDomain] = []byte("farther.example")
	if err := here.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		for _, peer := range here.peers("quickstart-s0-p0") {
			if peer.Name == "quickstart-s0-p1" && !strings.HasSuffix(peer.Address, ".svc.farther.example:26600") {
				return fmt.Errorf("the peer is at %s", peer.Address)
			}
		}
		return nil
	})
}

// A network that is deleted takes everything from its members with it, and
// stays until it has.
func TestRemoveFromMember(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20000}
		network.Spec.Volume.Size.Set(1 << 30)
	})
	here.mustReconcile(network)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: resources.StorageClassName(network)}}
	there.read(class)

	there.gate.set(true)
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionRemoved, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	if !strings.Contains(message, "the cluster far cannot be used now") || !strings.Contains(message, v1alpha1.FinalizerClusters) {
		t.Errorf("the message is %q", message)
	}
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeleting)
	for name := range here.objects(network.Name) {
		if strings.HasPrefix(name, "StatefulSet/") {
			t.Errorf("%s waits for the member", name)
		}
	}
	checkObjects(t, names(there.objects(network.Name)), thereObjects)

	there.gate.set(false)
	here.eventually(network, func() error { return here.isGone(network) })
	checkObjects(t, names(there.objects(network.Name)), nil)
	if err := there.client.Get(t.Context(), client.ObjectKeyFromObject(class), class); !apierrors.IsNotFound(err) {
		t.Errorf("the storage class is still there: %v", err)
	}
}

// A network does not stay for a member in which nothing of it was ever made.
func TestRemoveBeforeMemberWasReached(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(here *cluster){
		"never joined": func(*cluster) {},
		"no answer":    func(here *cluster) { here.joinMember().gate.set(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := newCluster(t)
			prepare(here)
			network := here.createSpanning()
			here.mustReconcile(network)
			if !slices.Contains(network.Finalizers, v1alpha1.FinalizerClusters) {
				t.Fatalf("the finalizers are %v", network.Finalizers)
			}
			if err := here.client.Delete(t.Context(), network); err != nil {
				t.Fatal(err)
			}
			if err := here.reconcile(network); err != nil {
				t.Fatal(err)
			}
			if err := here.isGone(network); err != nil {
				t.Error(err)
			}
		})
	}
}

// Somebody who deletes a whole namespace deletes the Secret of the member with
// the network.
func TestRemoveAfterTheSecret(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: here.namespace, Name: far}}
	for _, object := range []client.Object{secret, network} {
		if err := here.client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	here.eventually(network, func() error { return here.isGone(network) })
	checkObjects(t, names(there.objects(network.Name)), nil)
}

// With its disks, a network leaves the keys and the genesis document, in every
// cluster its own, and the next of its name goes on from there.
func TestRetentionInMember(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	retained := func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{Retention: v1alpha1.VolumeRetentionRetain}
		network.Spec.Volume.Size.Set(1 << 30)
	}
	network := here.createSpanning(retained)
	here.mustReconcile(network)
	genesis := here.genesis(network)
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error { return here.isGone(network) })
	kept := []string{
		"ConfigMap/quickstart-genesis",
		"Secret/quickstart-admin",
		"Secret/quickstart-s0-p1-key",
		"Secret/quickstart-s1-p0-key",
	}
	checkObjects(t, names(there.objects(network.Name)), kept)

	// Nothing but the garbage collector deletes what an owner reference says, and
	// there is none here.
	for name, object := range here.objects(network.Name) {
		if len(object.GetOwnerReferences()) > 0 {
			if err := here.client.Delete(t.Context(), object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	again := here.createSpanning(retained)
	here.eventually(again, func() error { return here.has(again, v1alpha1.ConditionApplied, metav1.ConditionTrue) })
	if after := here.genesis(again); resources.GenesisFile(after) != resources.GenesisFile(genesis) {
		t.Error("the genesis document is another one")
	}
	checkObjects(t, names(there.objects(network.Name)), thereObjects)
}

// genesis is the ConfigMap of a network's genesis document.
func (c *cluster) genesis(network *v1alpha1.ShardNetwork) *corev1.ConfigMap {
	c.t.Helper()
	document := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: resources.GenesisName(network.Name)}}
	c.read(document)
	return document
}

// config is the configuration that the next pod of the first validator has.
func (c *cluster) config() *nodeconfig.Config {
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "quickstart-s0-p0"}}
	c.read(set)
	template := &set.Spec.Template
	return c.mounted(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
}

// peers are what a validator's next pod is told of all nodes.
func (c *cluster) peers(validator string) []nodeconfig.Peer {
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: validator}}
	c.read(set)
	source := set.Spec.Template.Spec.Volumes[0].Projected.Sources[1].ConfigMap
	document := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: source.Name}}
	c.read(document)
	var peers nodeconfig.Peers
	if err := json.Unmarshal([]byte(document.Data[source.Items[0].Key]), &peers); err != nil {
		c.t.Fatal(err)
	}
	return peers.Peers
}

// mounted is the configuration that a pod mounts.
func (c *cluster) mounted(pod *corev1.Pod) *nodeconfig.Config {
	c.t.Helper()
	validator := pod.Labels[resources.LabelValidator]
	document := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: resources.ConfigName(validator)}}
	c.read(document)
	config := &nodeconfig.Config{}
	if err := json.Unmarshal([]byte(document.Data[configKey(&pod.Spec)]), config); err != nil {
		c.t.Fatal(err)
	}
	return config
}

// configKey is the key of the configuration that a pod mounts.
func configKey(pod *corev1.PodSpec) string {
	for i := range pod.Volumes {
		for _, source := range ptr.Deref(pod.Volumes[i].Projected, corev1.ProjectedVolumeSource{}).Sources {
			if source.ConfigMap != nil && len(source.ConfigMap.Items) > 0 {
				return source.ConfigMap.Items[0].Key
			}
		}
	}
	return ""
}

// image is the one of a validator that the cluster holds.
func (c *cluster) image(validator string) string {
	c.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: validator}}
	c.read(set)
	return set.Spec.Template.Spec.Containers[0].Image
}

// has reads the network again and says when a condition of it has another
// status.
func (c *cluster) has(network *v1alpha1.ShardNetwork, kind string, status metav1.ConditionStatus) error {
	c.t.Helper()
	c.read(network)
	if condition := meta.FindStatusCondition(network.Status.Conditions, kind); condition == nil || condition.Status != status {
		return fmt.Errorf("the condition %s is %+v, want %s", kind, condition, status)
	}
	return nil
}

// isGone says when the network is still there.
func (c *cluster) isGone(network *v1alpha1.ShardNetwork) error {
	c.t.Helper()
	err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(network), &v1alpha1.ShardNetwork{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("network %s is still there", network.Name)
	}
	return err
}

// A network stops in all its clusters, and is not said to have stopped where
// nobody can see it.
func TestLifetimeInMember(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning(lifetime(1000, v1alpha1.LifetimeStop))
	here.mustReconcile(network)

	there.gate.set(true)
	here.until(network, 1000*time.Second)
	here.mustReconcile(network)
	// Other words of the same reason are written later.
	here.clock = here.clock.Add(reportInterval)
	here.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonStopping)
	if !strings.Contains(message, "nothing is known of its 2 nodes in clusters that cannot be used now") {
		t.Errorf("the message is %s", message)
	}
	here.checkReplicas(network, 2, 0)
	there.checkReplicas(network, 2, 1)

	there.gate.set(false)
	here.eventually(network, func() error {
		here.read(network)
		condition := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionWithinLifetime)
		if condition.Reason != v1alpha1.ReasonStopped {
			return fmt.Errorf("the lifetime is %+v", condition)
		}
		return nil
	})
	there.checkReplicas(network, 2, 0)
}
