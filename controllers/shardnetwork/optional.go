// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ensureOptional has an object be as it should in a cluster that may not have its
// kind: nil then. It is looked for without a cache, which would need the kind.
func (r *run) ensureOptional(ctx context.Context, s *site, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	err := s.reader.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	switch {
	case meta.IsNoMatchError(err):
		return nil, nil
	case err == nil:
		if err := s.mine(live, wanted.GetKind()); err != nil {
			return nil, err
		}
		if upToDate, err := r.drift.UpToDate(wanted, live); upToDate || err != nil {
			return live, err
		}
	case !apierrors.IsNotFound(err):
		return nil, err
	}
	err = s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted),
		client.FieldOwner(FieldManager), client.ForceOwnership)
	// A kind that went away while the operator ran is still known to it.
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	// What was applied has what the cluster answered.
	return wanted, err
}
