// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// removalInterval is how often it is looked what is left of a network that is
// deleted.
const removalInterval = 2 * time.Second

// removeEverywhere deletes what the member clusters have of a network, and says
// whether nothing is left there. The operator's own cluster deletes the rest by
// itself once the network is gone, but for the validators, which cost the most:
// they do not wait for a member that gives no answer.
func (r *Reconciler) removeEverywhere(ctx context.Context, network *v1alpha1.ShardNetwork) (bool, error) {
	plan, err := topology.New(network)
	if err != nil {
		return false, fmt.Errorf("plan network %s: %w", network.Name, err)
	}
	run := &run{
		Reconciler: r,
		network:    network,
		plan:       plan,
		memory:     r.memories.of(client.ObjectKeyFromObject(network), network.UID),
		status:     network.Status.DeepCopy(),
	}
	run.reachClusters(ctx)
	// Nothing was made in a member that was never pinned.
	run.sites = slices.DeleteFunc(run.sites, func(s *site) bool { return !s.home() && s.known().UID == "" })
	for _, s := range run.sites {
		// The Secret of a member may be deleted with the network, by which time the
		// operator knows what it said.
		if errors.Is(s.lost, fleet.ErrSecretMissing) && s.seen {
			s.lost = nil
		}
	}
	failed := run.onSites(ctx, func(ctx context.Context, s *site) error { return s.remove(ctx) })
	left := map[string]map[string]int{}
	for _, s := range run.sites {
		if !s.home() && len(s.remains) > 0 {
			left[s.cluster] = s.remains
		}
	}
	lost := run.lostSites()
	if failed == nil && len(left) == 0 && len(lost) == 0 {
		return true, nil
	}
	run.note(policy.ObjectsRemain(left, lost, failed))
	run.note(policy.Deleting(run.status.Conditions))
	if failed = errors.Join(failed, run.publish(ctx)); run.readsAgain(ctx, failed) {
		return false, nil
	}
	return false, failed
}

// removable are the kinds that a network's objects in a namespace are of.
func (s *site) removable() []client.ObjectList {
	if s.home() {
		return []client.ObjectList{&appsv1.StatefulSetList{}}
	}
	monitors := &unstructured.UnstructuredList{}
	monitors.SetGroupVersionKind(resources.KindPodMonitor)
	return []client.ObjectList{
		&appsv1.StatefulSetList{},
		&corev1.ConfigMapList{},
		&corev1.SecretList{},
		&corev1.ServiceList{},
		&networkingv1.NetworkPolicyList{},
		&policyv1.PodDisruptionBudgetList{},
		monitors,
	}
}

// remove deletes what goes with the network and counts the objects of each kind
// that are there still.
func (s *site) remove(ctx context.Context) error {
	s.remains = map[string]int{}
	for _, list := range s.removable() {
		objects, err := s.owned(ctx, list, client.InNamespace(s.network.Namespace),
			client.MatchingLabels{resources.LabelNetwork: s.network.Name})
		if err != nil {
			return err
		}
		if err := s.delete(ctx, objects); err != nil {
			return err
		}
	}
	if s.home() {
		return nil
	}
	if err := s.dropProbes(ctx, ""); err != nil {
		return err
	}
	classes, err := s.owned(ctx, &storagev1.StorageClassList{}, client.MatchingLabels{resources.LabelNetwork: s.network.Name})
	if err != nil {
		return err
	}
	if err := s.delete(ctx, classes); err != nil {
		return err
	}
	return s.countFollowers(ctx)
}

// countFollowers counts what the cluster deletes once its StatefulSets are gone.
func (s *site) countFollowers(ctx context.Context) error {
	followers := []client.ObjectList{&corev1.PodList{}}
	if !resources.Retained(s.network) {
		followers = append(followers, &corev1.PersistentVolumeClaimList{})
	}
	for _, list := range followers {
		objects, err := s.list(ctx, list, client.InNamespace(s.network.Namespace), client.MatchingLabels{
			resources.LabelNetwork:   s.network.Name,
			resources.LabelManagedBy: resources.ManagedBy,
		})
		if err != nil {
			return err
		}
		for _, object := range objects {
			s.remains[s.kindOf(object)]++
		}
	}
	return nil
}

// owned lists the objects of a kind that go with the network. A kind that the
// cluster does not have, it has no objects of.
func (s *site) owned(ctx context.Context, list client.ObjectList, options ...client.ListOption) ([]client.Object, error) {
	all, err := s.list(ctx, list, options...)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var owned []client.Object
	for _, object := range all {
		if s.owns(object) {
			owned = append(owned, object)
		}
	}
	return owned, nil
}

// list asks the API server, because a cache may not know of the latest.
func (s *site) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) ([]client.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := s.reader.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list %T: %w", list, err)
	}
	var objects []client.Object
	err := meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(client.Object))
		return nil
	})
	return objects, err
}

func (s *site) delete(ctx context.Context, objects []client.Object) error {
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, object := range objects {
		s.remains[s.kindOf(object)]++
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			uid := object.GetUID()
			if err := s.client.Delete(ctx, object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete %s %s: %w", s.kindOf(object), object.GetName(), err)
			}
			return nil
		})
	}
	return group.Wait()
}
