// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/topology"
)

// reachClusters finds the clusters that the network spans. One that cannot be
// used now is passed over until the next time.
func (r *run) reachClusters(ctx context.Context) {
	r.sites = []*site{{
		network:    r.network,
		domain:     r.settings.ClusterDomain,
		validators: r.plan.In(""),
		client:     r.client,
		reader:     r.reader,
	}}
	var group errgroup.Group
	for _, name := range r.plan.Members() {
		member := &site{network: r.network, cluster: name, validators: r.plan.In(name)}
		r.sites = append(r.sites, member)
		group.Go(func() error {
			r.reach(ctx, member)
			return nil
		})
	}
	_ = group.Wait()
}

// reach connects a site with its member cluster.
func (r *Reconciler) reach(ctx context.Context, s *site) {
	member, err := r.clusters.Member(ctx, client.ObjectKeyFromObject(s.network), s.cluster)
	s.lost = err
	if member != nil {
		s.domain = member.Domain()
		s.client, s.reader, s.seen = member.Clients()
	}
}

// onSites does a task in all clusters that can be used, side by side. A member
// that gives no answer meanwhile is passed over from then on, and what it did
// not do is no failure of the task.
func (r *run) onSites(ctx context.Context, task func(context.Context, *site) error) error {
	failures := make([]error, len(r.sites))
	var group sync.WaitGroup
	for i, s := range r.sites {
		if s.lost != nil {
			continue
		}
		group.Go(func() {
			err := task(ctx, s)
			if !s.home() && ctx.Err() == nil && fleet.Unavailable(err) {
				s.lost = err
				return
			}
			failures[i] = s.wrap(err)
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// home is the part of the network in the operator's own cluster.
func (r *run) home() *site { return r.sites[0] }

// siteOf is the one that holds a validator.
func (r *run) siteOf(validator topology.Validator) *site {
	return r.sites[slices.IndexFunc(r.sites, func(s *site) bool { return s.cluster == validator.Cluster })]
}

// lostSites are those that cannot be used now.
func (r *run) lostSites() []policy.LostCluster {
	var lost []policy.LostCluster
	for _, s := range r.sites {
		if s.lost != nil {
			lost = append(lost, s.describeLoss())
		}
	}
	return lost
}

// describeLoss says which cluster cannot be used, and why.
func (s *site) describeLoss() policy.LostCluster {
	lost := policy.LostCluster{
		Name:   s.cluster,
		Nodes:  len(s.validators),
		Reason: v1alpha1.ReasonClusterUnavailable,
		Cause:  s.lost,
	}
	if secret, ok := errors.AsType[*fleet.SecretError](s.lost); ok {
		lost.Reason, lost.Cause = v1alpha1.ReasonClusterSecretInvalid, secret.Cause
		if errors.Is(secret.Cause, fleet.ErrSecretMissing) {
			lost.Reason = v1alpha1.ReasonClusterSecretMissing
		}
	}
	return lost
}
