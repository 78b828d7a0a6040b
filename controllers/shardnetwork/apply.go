// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// applyObjects brings all objects of the network up to date, in every cluster
// that can be used. Objects that are so already cost nothing but a look at the
// cache.
func (r *run) applyObjects(ctx context.Context) error {
	domains := map[string]string{}
	for _, s := range r.sites {
		if s.domain == "" {
			// What there is stays as it is; of the rest, ClustersAvailable says why.
			r.note(policy.ApplyUnknown(r.lostSites()))
			return nil
		}
		domains[s.cluster] = s.domain
	}
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		objects, err := resources.Build(r.network, r.plan, resources.Inputs{
			Cluster:           s.cluster,
			PublicKeys:        r.publicKeys,
			AdminToken:        s.adminToken,
			DefaultNodeImage:  r.settings.DefaultNodeImage,
			ClusterDomains:    domains,
			OperatorNamespace: r.settings.OperatorNamespace,
			OperatorAddress:   r.settings.OperatorAddress,
		})
		if err != nil {
			return fmt.Errorf("build objects: %w", err)
		}
		return s.apply(ctx, objects)
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

// apply brings the objects of one cluster up to date.
func (s *site) apply(ctx context.Context, objects []resources.Object) error {
	var applied atomic.Int32
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, object := range objects {
		group.Go(func() error {
			changed, err := s.applyObject(groupContext, object)
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
	s.applied, s.objects = true, len(objects)
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
	case ok:
		r.note(policy.NameTaken(taken.kind, taken.name))
	default:
		r.note(policy.ApplyFailed(err))
	}
	return err
}

// applyObject says whether the object had to be applied.
func (s *site) applyObject(ctx context.Context, object resources.Object) (bool, error) {
	kind, name := object.GetObjectKind().GroupVersionKind().Kind, object.GetName()
	wanted, err := toApply(object)
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", kind, name, err)
	}
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
		current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		if err != nil {
			return false, fmt.Errorf("%s %s: %w", kind, name, err)
		}
		if upToDate(wanted, current) {
			return false, nil
		}
	}
	if err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return false, fmt.Errorf("apply %s %s: %w", kind, name, err)
	}
	return true, nil
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
	return &nameTakenError{kind: kind, name: s.of(live.GetName())}
}

// nameTakenError is an object that the network needs and somebody else has.
type nameTakenError struct {
	kind string
	name string
}

func (e *nameTakenError) Error() string {
	return fmt.Sprintf("the %s %s belongs to somebody else", e.kind, e.name)
}

// toApply is the form of an object that is sent: only what it sets.
func toApply(object resources.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	prune(content)
	wanted := &unstructured.Unstructured{Object: content}
	if err := sign(wanted); err != nil {
		return nil, err
	}
	return wanted, nil
}
