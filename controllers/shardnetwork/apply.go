// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/resources"
)

// applyObjects brings all objects of the network up to date, in every cluster
// that can be used. Objects that are so already cost nothing but a look at the
// cache.
func (r *run) applyObjects(ctx context.Context) error {
	domains := map[string]string{}
	for _, s := range r.sites {
		if s.domain == "" {
			// Nobody knows by which names to reach its validators. What there is stays
			// as it is, and ClustersAvailable says why.
			r.awaitsClusters = true
			r.note(policy.ApplyUnknown(r.lostSites()))
			return nil
		}
		domains[s.cluster] = s.domain
	}
	if err := r.renewSets(ctx); err != nil {
		return err
	}
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		objects, err := resources.Build(r.network, r.plan, resources.Inputs{
			Cluster:           s.cluster,
			PublicKeys:        r.publicKeys,
			AdminToken:        s.adminToken,
			Before:            r.before(),
			DefaultNodeImage:  r.settings.DefaultNodeImage,
			ClusterDomains:    domains,
			OperatorNamespace: r.settings.OperatorNamespace,
			OperatorAddress:   r.settings.OperatorAddress,
		})
		if err != nil {
			return fmt.Errorf("build objects: %w", err)
		}
		return r.applyTo(ctx, s, objects)
	})
	if err != nil {
		return err
	}
	if lost := r.lostSites(); len(lost) > 0 {
		r.note(policy.ApplyUnknown(lost))
		return nil
	}
	objects, clusters := 0, 0
	for _, s := range r.sites {
		if s.objects > 0 {
			objects, clusters = objects+s.objects, clusters+1
		}
	}
	r.note(policy.ObjectsApplied(objects, clusters))
	return nil
}

// before is the network as its nodes ran it before an update that goes on; nil when they
// never all did.
func (r *run) before() *v1alpha1.ShardNetwork {
	if r.network.Status.StableRevision == nil {
		return nil
	}
	return replacing.AsBefore(r.network)
}

// applyTo brings the objects of one cluster up to date.
func (r *run) applyTo(ctx context.Context, s *site, objects []resources.Object) error {
	var applied atomic.Int32
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, object := range objects {
		group.Go(func() error {
			changed, err := r.applyObject(groupContext, s, object)
			if changed {
				applied.Add(1)
			}
			return err
		})
	}
	err := group.Wait()
	s.settling = applied.Load() > 0
	if err != nil {
		return err
	}
	// An old budget beside the new one has every eviction fail; without either,
	// none would.
	if err := s.deleteSuperseded(ctx, objects); err != nil {
		return err
	}
	s.applied, s.objects = true, len(objects)
	return nil
}

// deleteSuperseded deletes the disruption budgets of the network that are not
// among its objects: earlier operators made one for each shard.
func (s *site) deleteSuperseded(ctx context.Context, objects []resources.Object) error {
	budgets := &policyv1.PodDisruptionBudgetList{}
	if err := s.client.List(ctx, budgets, client.InNamespace(s.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
		return fmt.Errorf("list disruption budgets: %w", err)
	}
	for i := range budgets.Items {
		budget := &budgets.Items[i]
		wanted := slices.ContainsFunc(objects, func(object resources.Object) bool {
			_, ok := object.(*policyv1.PodDisruptionBudget)
			return ok && object.GetName() == budget.Name
		})
		if wanted || !s.owns(budget) {
			continue
		}
		if err := s.client.Delete(ctx, budget, client.Preconditions{UID: &budget.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete disruption budget %s: %w", budget.Name, err)
		}
	}
	return nil
}

// explain puts what kept the objects from being made into the conditions.
func (r *run) explain(err error) error {
	switch taken, ok := errors.AsType[*nameTakenError](err); {
	case err == nil, errors.Is(err, context.Canceled):
	case errors.Is(err, errBlocked):
		// A network that waits for a person is no error: its conditions say what
		// for.
		r.blocked = true
		return nil
	case ok && taken.leaves:
		r.note(policy.PredecessorRemains(taken.kind, taken.name))
	case ok:
		r.note(policy.NameTaken(taken.kind, taken.name))
	default:
		r.note(policy.ApplyFailed(err))
	}
	return err
}

// applyObject says whether the object had to be applied.
func (r *run) applyObject(ctx context.Context, s *site, object resources.Object) (bool, error) {
	kind, name := object.GetObjectKind().GroupVersionKind().Kind, object.GetName()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	live, err := s.live(ctx, object)
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", kind, name, err)
	}
	if live != nil {
		if err := s.mine(live, kind); err != nil {
			return false, err
		}
		if s.goes(live) {
			return true, nil
		}
		keepFixed(object, live)
	}
	wanted, err := drift.Prepare(object)
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", kind, name, err)
	}
	if live != nil {
		upToDate, err := r.upToDate(s, wanted, live)
		if err != nil {
			return false, fmt.Errorf("%s %s: %w", kind, name, err)
		}
		if upToDate {
			return false, nil
		}
	}
	if err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return false, fmt.Errorf("apply %s %s: %w", kind, name, err)
	}
	return true, nil
}

// upToDate says whether a cluster still has an object as it was applied. One that
// was, and that nobody wrote since, is not looked at again.
func (r *run) upToDate(s *site, wanted *unstructured.Unstructured, live client.Object) (bool, error) {
	key := objectKey{cluster: s.cluster, kind: wanted.GetKind(), name: wanted.GetName()}
	found := objectVersion{
		applied: wanted.GetAnnotations()[drift.AnnotationApplied],
		live:    live.GetResourceVersion(),
	}
	if known, ok := r.memory.upToDate.Load(key); ok && known == found {
		return true, nil
	}
	upToDate, err := r.drift.UpToDate(wanted, live)
	if upToDate {
		r.memory.upToDate.Store(key, found)
	}
	return upToDate, err
}

// live reads the object as it is; nil when it does not exist.
func (s *site) live(ctx context.Context, object resources.Object) (client.Object, error) {
	blank, err := s.client.Scheme().New(object.GetObjectKind().GroupVersionKind())
	if err != nil {
		return nil, err
	}
	live := blank.(client.Object)
	key := client.ObjectKeyFromObject(object)
	err = s.client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		// The cache holds only what has the operator's labels: what has the same
		// name without them belongs to somebody else.
		err = s.reader.Get(ctx, key, live)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// mine refuses to take over what somebody else made.
func (s *site) mine(live client.Object, kind string) error {
	if s.owns(live) || s.home() && isClassOf(live, s.network) {
		return nil
	}
	return s.taken(live, kind)
}

// taken is the error about an object that somebody else has.
func (s *site) taken(live client.Object, kind string) error {
	return &nameTakenError{kind: kind, name: s.of(live.GetName()), leaves: s.leaves(live)}
}

// nameTakenError is an object that the network needs and somebody else has.
type nameTakenError struct {
	kind string
	name string
	// leaves is true when it is about to be gone.
	leaves bool
}

func (e *nameTakenError) Error() string {
	return fmt.Sprintf("the %s %s belongs to somebody else", e.kind, e.name)
}
