// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/shardnetwork"
	"github.com/shardyard/shardyard/internal/resources"
)

// leaderElectionID is the Lease that operators of one cluster take turns with.
const leaderElectionID = "operator.shardyard.dev"

// stopTimeout is how long what is under way may take when the operator stops.
const stopTimeout = 10 * time.Second

// newManager makes a manager with all controllers.
func newManager(options *options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find cluster: %w", err)
	}
	stopTimeout := stopTimeout
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions(),
		Metrics: metricsserver.Options{
			BindAddress:    options.metricsAddress,
			SecureServing:  true,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:        options.probeAddress,
		LeaderElection:                options.leaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &stopTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	if err := shardnetwork.Setup(manager, options.settings()); err != nil {
		return nil, fmt.Errorf("set up shardnetwork controller: %w", err)
	}
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add health check: %w", err)
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add readiness check: %w", err)
	}
	return manager, nil
}

// cacheOptions keep only what networks are made of: a cluster has many more
// pods, Secrets and ConfigMaps than those.
func cacheOptions() cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy})}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.StatefulSet{}:           ours,
			&corev1.ConfigMap{}:             ours,
			&corev1.Pod{}:                   ours,
			&corev1.Secret{}:                ours,
			&corev1.Service{}:               ours,
			&networkingv1.NetworkPolicy{}:   ours,
			&policyv1.PodDisruptionBudget{}: ours,
			&storagev1.StorageClass{}:       ours,
		},
	}
}
