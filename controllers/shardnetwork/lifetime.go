// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// liveOn reports when the lifetime of the network ends that has not.
func (r *run) liveOn() {
	r.noteEndTime()
	r.note(policy.WithinLifetime(r.network, r.now()))
}

func (r *run) noteEndTime() {
	r.status.EndTime = nil
	if end, ends := policy.EndOfLifetime(r.network); ends {
		r.status.EndTime = ptr.To(metav1.NewTime(end))
	}
}

// end does what the spec says of the end of the network's lifetime. It needs
// nothing of what making and watching the network needs: a network in trouble
// ends all the same.
func (r *run) end(ctx context.Context) error {
	r.noteEndTime()
	r.waitsFor = policy.ForLifetime
	r.status.Load, r.status.NodesBehind = nil, nil
	r.forgetChain()
	r.memory.forgetNodes()
	if r.network.Spec.Lifetime.Action == v1alpha1.LifetimeDelete {
		return r.delete(ctx)
	}
	return errors.Join(r.stop(ctx), r.report(ctx))
}

// delete deletes the network as it was seen: one whose spec has changed since
// may have a longer lifetime.
func (r *run) delete(ctx context.Context) error {
	if err := r.client.Delete(ctx, r.network,
		client.Preconditions{UID: &r.network.UID, ResourceVersion: &r.network.ResourceVersion},
		// What belongs to it goes first, so that one can see it go.
		client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("delete network %s: %w", r.network.Name, err))
	}
	r.note(policy.Deleted(r.network))
	// It was written by that, if it is there still.
	going := &v1alpha1.ShardNetwork{}
	if err := r.reader.Get(ctx, client.ObjectKeyFromObject(r.network), going); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("read network %s: %w", r.network.Name, err))
	}
	if going.UID != r.network.UID {
		return nil
	}
	r.network.ResourceVersion = going.ResourceVersion
	return client.IgnoreNotFound(r.report(ctx))
}

// stop ends the validators in all clusters, and tells how many still run.
func (r *run) stop(ctx context.Context) error {
	err := r.onSites(ctx, func(ctx context.Context, s *site) error { return s.stop(ctx) })
	running, unknown := 0, 0
	for _, s := range r.sites {
		if s.lost != nil {
			unknown += len(s.validators)
			continue
		}
		running += s.running
	}
	r.status.NodesReady = nil
	if running+unknown == 0 {
		r.status.NodesReady = ptr.To[int32](0)
	}
	for _, condition := range policy.Stopped(r.network, running, unknown) {
		r.note(condition)
	}
	return err
}

// stop ends the validators that the cluster holds, and counts those that still
// run.
func (s *site) stop(ctx context.Context) error {
	sets, pods := &appsv1.StatefulSetList{}, &corev1.PodList{}
	for _, list := range []client.ObjectList{sets, pods} {
		if err := s.client.List(ctx, list, client.InNamespace(s.network.Namespace),
			client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	s.running = len(pods.Items)
	scaled := 0
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range sets.Items {
		if set := &sets.Items[i]; ptr.Deref(set.Spec.Replicas, 1) != 0 {
			scaled++
			group.Go(func() error { return s.scaleToZero(groupContext, set) })
		}
	}
	// Until the cluster has taken that up, a pod may be made still.
	s.running = max(s.running, scaled)
	return group.Wait()
}

func (s *site) scaleToZero(ctx context.Context, set *appsv1.StatefulSet) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	before := set.DeepCopy()
	set.Spec.Replicas = ptr.To[int32](0)
	if err := s.client.Patch(ctx, set, client.MergeFrom(before), client.FieldOwner(FieldManager)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("stop %s: %w", set.Name, err))
	}
	return nil
}
