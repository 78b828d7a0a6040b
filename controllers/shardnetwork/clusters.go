// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
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
		network:      r.network,
		domain:       r.settings.ClusterDomain,
		validators:   r.plan.In(""),
		client:       r.client,
		reader:       r.reader,
		listMachines: r.listMachines,
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

// reach connects a site with its member cluster, if that is the one that holds
// its part of the network.
func (r *Reconciler) reach(ctx context.Context, s *site) {
	known := s.known()
	member, err := r.clusters.Member(ctx, client.ObjectKeyFromObject(s.network), s.cluster)
	s.lost = err
	switch {
	case member != nil && !known.is(member.UID()):
		s.lost = &replacedError{held: known.UID, named: string(member.UID())}
	case member != nil:
		s.uid, s.domain = string(member.UID()), member.Domain()
		s.client, s.reader, s.seen = member.Clients()
		s.listMachines = member.Machines
	}
	if known.Domain != "" && s.uid == "" {
		// Nobody knows whether the Secret is about the same cluster as before.
		s.domain = known.Domain
	}
}

// knownCluster is what the status of a network keeps of a member.
type knownCluster struct{ v1alpha1.ClusterStatus }

// known is empty for a member that was never reached.
func (s *site) known() knownCluster {
	for _, known := range s.network.Status.Clusters {
		if known.Name == s.cluster {
			return knownCluster{known}
		}
	}
	return knownCluster{}
}

// is says whether a cluster may be the one that is known.
func (k knownCluster) is(uid types.UID) bool { return k.UID == "" || uid == "" || k.UID == string(uid) }

// replacedError is a Secret that names another cluster than the one that holds a
// part of the network.
type replacedError struct{ held, named string }

func (e *replacedError) Error() string {
	return fmt.Sprintf("the UID of its namespace kube-system is %s, and theirs %s", e.named, e.held)
}

// pinClusters keeps in the status which clusters the network is in, before
// anything is made there: from then on, a Secret that names another one is
// refused.
func (r *run) pinClusters(ctx context.Context) error {
	r.summariseClusters()
	if !equality.Semantic.DeepEqual(r.network.Status.Clusters, r.status.Clusters) {
		if err := r.writeStatus(ctx); err != nil {
			return fmt.Errorf("write which clusters the network is in: %w", err)
		}
	}
	r.held = true
	return nil
}

// summariseClusters puts into the status what an operator that starts anew must
// know of the members.
func (r *run) summariseClusters() {
	r.status.Clusters = nil
	for _, s := range r.sites {
		if s.home() || s.domain == "" {
			continue
		}
		uid := s.uid
		if uid == "" {
			uid = s.known().UID
		}
		r.status.Clusters = append(r.status.Clusters, v1alpha1.ClusterStatus{Name: s.cluster, Domain: s.domain, UID: uid})
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

// holdsNodesNow says whether any cluster with nodes can be used now.
func (r *run) holdsNodesNow() bool {
	return slices.ContainsFunc(r.sites, func(s *site) bool { return s.lost == nil && len(s.validators) > 0 })
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
	if _, ok := errors.AsType[*replacedError](s.lost); ok {
		lost.Reason = v1alpha1.ReasonClusterReplaced
	}
	if secret, ok := errors.AsType[*fleet.SecretError](s.lost); ok {
		lost.Reason, lost.Cause = v1alpha1.ReasonClusterSecretInvalid, secret.Cause
		if errors.Is(secret.Cause, fleet.ErrSecretMissing) {
			lost.Reason = v1alpha1.ReasonClusterSecretMissing
		}
	}
	return lost
}
