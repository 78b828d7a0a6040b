// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/benchmark"
	"github.com/shardyard/shardyard/controllers/benchmarkschedule"
	"github.com/shardyard/shardyard/controllers/fault"
	"github.com/shardyard/shardyard/controllers/leftovers"
	"github.com/shardyard/shardyard/controllers/nodetuning"
	"github.com/shardyard/shardyard/controllers/reporting"
	"github.com/shardyard/shardyard/controllers/shardnetwork"
	"github.com/shardyard/shardyard/internal/version"
)

// leaderElectionID is the Lease that operators of one cluster take turns with,
// which the chart makes.
const leaderElectionID = "operator.shardyard.dev"

// stopTimeout is how long what is under way may take when the operator stops.
const stopTimeout = 10 * time.Second

// newManager makes a manager of a cluster with all controllers.
func newManager(config *rest.Config, options *options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	watches := reporting.NewWatches(ctrl.Log.WithName("watches"))
	kept := cacheOptions(options.watchNamespaces, options.tuningNamespace)
	kept.DefaultWatchErrorHandler = watches.Handle
	stopTimeout := stopTimeout
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  kept,
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
	if err := reporting.RegisterBuild(metrics.Registry, version.Get()); err != nil {
		return nil, fmt.Errorf("register the version: %w", err)
	}
	if err := metrics.Registry.Register(watches); err != nil {
		return nil, fmt.Errorf("register refused watches: %w", err)
	}
	if err := shardnetwork.Setup(manager, options.settings()); err != nil {
		return nil, fmt.Errorf("set up shardnetwork controller: %w", err)
	}
	if options.keepsTunings() {
		if err := nodetuning.Setup(manager, options.tuningSettings()); err != nil {
			return nil, fmt.Errorf("set up nodetuning controller: %w", err)
		}
	} else {
		manager.GetLogger().Info("NodeTunings are left to another operator: this one keeps some namespaces, and may run no agents")
	}
	if err := benchmark.Setup(manager, options.benchmarkSettings()); err != nil {
		return nil, fmt.Errorf("set up benchmark controller: %w", err)
	}
	if err := benchmarkschedule.Setup(manager); err != nil {
		return nil, fmt.Errorf("set up benchmarkschedule controller: %w", err)
	}
	if err := fault.Setup(manager, options.faultSettings()); err != nil {
		return nil, fmt.Errorf("set up fault controller: %w", err)
	}
	if err := leftovers.Setup(manager, options.watchNamespaces); err != nil {
		return nil, fmt.Errorf("set up the search for leftovers: %w", err)
	}
	return manager, addChecks(manager, watches)
}

// watched are the kinds that the controllers watch. Each has a check of its own,
// because /readyz says which check fails and not why.
var watched = []schema.GroupResource{
	{Resource: "configmaps"},
	{Resource: "nodes"},
	{Resource: "pods"},
	{Resource: "secrets"},
	{Resource: "services"},
	{Group: "apps", Resource: "daemonsets"},
	{Group: "apps", Resource: "statefulsets"},
	{Group: "networking.k8s.io", Resource: "networkpolicies"},
	{Group: "policy", Resource: "poddisruptionbudgets"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "benchmarks"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "benchmarkschedules"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "faults"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "nodetunings"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "shardnetworks"},
	{Group: "storage.k8s.io", Resource: "storageclasses"},
}

// addChecks adds what /healthz and /readyz ask. An operator that is refused a kind
// runs on and is not ready: what it keeps of other kinds goes on.
func addChecks(manager manager.Manager, watches *reporting.Watches) error {
	if err := manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health check: %w", err)
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	for _, kind := range watched {
		if err := manager.AddReadyzCheck("watch-"+kind.String(), watches.Check(kind)); err != nil {
			return fmt.Errorf("add readiness check: %w", err)
		}
	}
	return nil
}

// cacheOptions keep only what networks and tunings are made of: in all namespaces,
// or in those that are watched and, of pods, that of the agents.
func cacheOptions(watchNamespaces []string, tuningNamespace string) cache.Options {
	options := shardnetwork.CacheOptions()
	maps.Copy(options.ByObject, nodetuning.CachedObjects(tuningNamespace))
	if len(watchNamespaces) == 0 {
		return options
	}
	options.DefaultNamespaces = map[string]cache.Config{}
	for _, namespace := range watchNamespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	if tuningNamespace == "" {
		return options
	}
	for kind, kept := range options.ByObject {
		if _, ok := kind.(*corev1.Pod); ok {
			kept.Namespaces = maps.Clone(options.DefaultNamespaces)
			kept.Namespaces[tuningNamespace] = cache.Config{}
			options.ByObject[kind] = kept
		}
	}
	return options
}
