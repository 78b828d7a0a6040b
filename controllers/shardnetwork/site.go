// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/ed25519"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// site is the part of a network that one cluster holds.
type site struct {
	network *v1alpha1.ShardNetwork
	// cluster is the name of a member; empty is the operator's own cluster.
	cluster string
	// domain is that of the cluster's DNS names; empty when it is not known.
	domain string
	// uid tells a member from all other clusters; empty when it is not known.
	uid string
	// validators are those that the cluster holds.
	validators []topology.Validator
	// client reads from a cache and writes; reader asks the API server. Both are
	// nil for a member that was never reached.
	client client.Client
	reader client.Reader
	// listMachines lists the machines of the cluster.
	listMachines func(context.Context) (*corev1.NodeList, error)
	// lost is why the cluster cannot be used now. What its cache holds is old then.
	lost error
	// seen is true when the cache holds what the cluster once had.
	seen bool

	adminToken string
	// publicKeys are those of its validators, by name.
	publicKeys map[string]ed25519.PublicKey
	// objects is how many it has of the network, once all are applied.
	objects int
	applied bool
	// settling is true when objects changed just now, so that what the cluster
	// says of them may be old.
	settling bool

	// volumes are what is known of the claims and StatefulSets of its validators,
	// sets the StatefulSets, and renewing those that were let go in this run, by
	// validator.
	volumes  map[string]policy.Volume
	sets     map[string]*appsv1.StatefulSet
	renewing map[string]bool
	// setUIDs are those of the network's StatefulSets that were seen in this run.
	setUIDs map[types.UID]bool
	// pods are those that the API server has, by name; nil unless it was asked.
	pods map[string]*corev1.Pod

	// running is how many nodes are left of a network that is stopped.
	running int
	// remains count the objects, by kind, that are left of a network which is
	// deleted.
	remains map[string]int
}

// home tells the operator's own cluster from members.
func (s *site) home() bool { return s.cluster == "" }

// of names an object as messages do.
func (s *site) of(name string) string {
	if s.home() {
		return name
	}
	return name + " in the cluster " + s.cluster
}

// wrap says which cluster an error is about.
func (s *site) wrap(err error) error {
	if err == nil || s.home() {
		return err
	}
	return fmt.Errorf("cluster %s: %w", s.cluster, err)
}

// owns says whether an object goes with the network: by its owner at home, by a
// label elsewhere.
func (s *site) owns(object client.Object) bool {
	if s.home() {
		return metav1.IsControlledBy(object, s.network)
	}
	return object.GetLabels()[resources.LabelNetworkUID] == string(s.network.UID)
}

// disowned says whether an object is free to be taken over: nothing goes with
// another network of the same name.
func (s *site) disowned(object client.Object) bool {
	if s.home() {
		return metav1.GetControllerOf(object) == nil
	}
	return object.GetLabels()[resources.LabelNetworkUID] == ""
}

// leaves says whether an object of somebody else is about to be gone: it is being
// deleted, or its owner is an earlier network of this name, with which the
// cluster deletes it.
func (s *site) leaves(object client.Object) bool {
	if object.GetDeletionTimestamp() != nil {
		return true
	}
	owner := metav1.GetControllerOf(object)
	return s.home() && owner != nil && owner.UID != s.network.UID && owner.Name == s.network.Name &&
		owner.APIVersion == v1alpha1.GroupVersion.String() && owner.Kind == v1alpha1.KindShardNetwork
}

// own has an object go with the network, or stay.
func (s *site) own(object client.Object, owned bool) {
	if s.home() {
		object.SetOwnerReferences(nil)
		if owned {
			object.SetOwnerReferences([]metav1.OwnerReference{resources.OwnerReference(s.network)})
		}
		return
	}
	labels := object.GetLabels()
	delete(labels, resources.LabelNetworkUID)
	if owned {
		labels[resources.LabelNetworkUID] = string(s.network.UID)
	}
	object.SetLabels(labels)
}

// create makes an object that is made once.
func (s *site) create(ctx context.Context, object resources.Object) error {
	if !s.home() {
		resources.Export(s.network, object)
	}
	return s.client.Create(ctx, object.(client.Object), client.FieldOwner(FieldManager))
}

// find reads an object by name: from the cache, and when it is not there, from
// the API server, because the cache may be old. What has the name and not the
// network's labels belongs to somebody else.
func (s *site) find(ctx context.Context, name string, object client.Object) (bool, error) {
	key := types.NamespacedName{Namespace: s.network.Namespace, Name: name}
	err := s.client.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		err = s.reader.Get(ctx, key, object)
	}
	switch labels := object.GetLabels(); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case labels[resources.LabelManagedBy] != resources.ManagedBy, labels[resources.LabelNetwork] != s.network.Name:
		return false, s.taken(object, s.kindOf(object))
	}
	return true, nil
}

func (s *site) kindOf(object client.Object) string {
	kind, err := s.client.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Sprintf("%T", object)
	}
	return kind.Kind
}

// readGenesis is the ConfigMap of the genesis document; nil when there is none.
func (s *site) readGenesis(ctx context.Context) (*corev1.ConfigMap, error) {
	document := &corev1.ConfigMap{}
	found, err := s.find(ctx, resources.GenesisName(s.network.Name), document)
	if err != nil {
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	if !found {
		return nil, nil
	}
	return document, nil
}

// ensureOwnership lets an object go with the network, or keeps it, as the spec
// now says.
func (s *site) ensureOwnership(ctx context.Context, object client.Object) error {
	wanted, owned := !resources.Retained(s.network), s.owns(object)
	// What an earlier network of this name still owns is about to go with it.
	if !owned && !s.disowned(object) {
		return s.taken(object, s.kindOf(object))
	}
	if wanted == owned {
		return nil
	}
	before := object.DeepCopyObject().(client.Object)
	s.own(object, wanted)
	return s.client.Patch(ctx, object, client.MergeFrom(before), client.FieldOwner(FieldManager))
}
