// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// estimateCost reports what the network costs, and whether it may.
func (r *run) estimateCost() {
	estimate := cost.New(r.network, r.plan, r.prices)
	condition := policy.WithinBudget(r.network.Spec.Budget, estimate)
	r.status.Cost = costStatus(estimate)
	r.note(condition)
	r.withinBudget = condition.Status == metav1.ConditionTrue
}

// keepToBudget comes before everything that costs money. A network that runs
// already and is asked to cost more stays as it is.
func (r *run) keepToBudget(ctx context.Context) error {
	if r.withinBudget {
		return nil
	}
	r.waitsFor = policy.ForBudget
	if err := r.onSites(ctx, func(ctx context.Context, s *site) error { return s.readAdminToken(ctx) }); err != nil {
		return err
	}
	return errBlocked
}

// readAdminToken reads the token that nodes which are there are asked with.
func (s *site) readAdminToken(ctx context.Context) error {
	secret := &corev1.Secret{}
	found, err := s.find(ctx, resources.AdminTokenName(s.network.Name), secret)
	if err != nil {
		return fmt.Errorf("admin token: %w", err)
	}
	if found {
		s.adminToken = resources.AdminToken(secret)
	}
	return nil
}

// costStatus is the form of an estimate in a status.
func costStatus(estimate *cost.Estimate) *v1alpha1.CostStatus {
	status := &v1alpha1.CostStatus{
		PricesDate: estimate.PricesDate,
		USDPerHour: amount(estimate.USDPerHour),
		USDPerRun:  amount(estimate.USDPerRun),
	}
	for _, part := range estimate.Parts {
		status.Parts = append(status.Parts, v1alpha1.CostPart{
			Name: part.Name, USDPerHour: amount(part.USDPerHour), Basis: part.Basis,
		})
	}
	return status
}

// amount is empty when it is not known.
func amount(usd *cost.USD) string {
	if usd == nil {
		return ""
	}
	return usd.String()
}
