// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// routeInterval is how often it is seen what became of the route to the rpc nodes.
const routeInterval = 15 * time.Second

// routeKinds are those that a route may be of.
var routeKinds = []schema.GroupVersionKind{resources.KindIngress, resources.KindHTTPRoute}

// applyRoute leads requests from outside to the rpc nodes, which are all in the
// operator's own cluster. Nothing else of the network depends on who takes the
// route, nor on whether its kind is there: only its condition says so.
func (r *run) applyRoute(ctx context.Context) error {
	known := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionRouted)
	if known == nil && r.network.Spec.RPCRoute == nil || !r.held {
		return nil
	}
	memory := r.memory
	if known != nil && memory.routeGeneration == r.network.Generation && r.now().Sub(memory.lastRoute) < routeInterval {
		r.note(*known)
		return nil
	}
	err := r.ensureRoute(ctx, known == nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.note(policy.RouteFailed(err))
	}
	memory.lastRoute, memory.routeGeneration = r.now(), r.network.Generation
	return nil
}

// ensureRoute makes the route, and removes one of another kind or that is not wanted
// any more.
func (r *run) ensureRoute(ctx context.Context, first bool) error {
	wanted := r.network.Spec.RPCRoute
	if wanted != nil && first {
		// Whoever does not want the route later has to know that there may be one.
		r.note(policy.RoutePending(r.network))
		if err := r.writeStatus(ctx); err != nil {
			return fmt.Errorf("write that there is a route: %w", err)
		}
	}
	for _, kind := range routeKinds {
		if wanted != nil && kind == resources.RPCRouteKind(wanted) {
			continue
		}
		if err := r.home().deleteRoute(ctx, kind); err != nil {
			return err
		}
	}
	if wanted == nil {
		meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionRouted)
		return nil
	}
	route, err := drift.Prepare(resources.NewRPCRoute(r.network, r.plan.Ports))
	if err != nil {
		return fmt.Errorf("%s %s: %w", wanted.Type, resources.RPCServiceName(r.network.Name), err)
	}
	live, err := r.ensureOptional(ctx, r.home(), route)
	switch {
	case err != nil:
		return err
	case live == nil:
		r.note(policy.RouteUnavailable(r.network))
	default:
		r.note(policy.Routed(r.network, live))
	}
	return nil
}

// deleteRoute deletes the network's route of a kind, if it has one.
func (s *site) deleteRoute(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(kind)
	name := resources.RPCServiceName(s.network.Name)
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: s.network.Namespace, Name: name}, live)
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
	case !s.owns(live), live.GetDeletionTimestamp() != nil:
		return nil
	}
	uid := live.GetUID()
	if err := s.client.Delete(ctx, live, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", kind.Kind, name, err)
	}
	return nil
}
