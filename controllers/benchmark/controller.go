// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// FieldManager owns the fields that this controller applies.
	FieldManager = "shardyard-benchmark"
	// pollInterval is how often a benchmark is looked at that waits: what passes
	// without an event is time.
	pollInterval = 10 * time.Second
)

// Settings are what the operator was started with.
type Settings struct {
	// Image is the image of the pods of benchmarks, which is the operator's; empty
	// when they cannot be made.
	Image string
	// ClusterDomain is the DNS domain of the operator's own cluster.
	ClusterDomain string
}

// Reconciler reconciles Benchmarks.
type Reconciler struct {
	client client.Client
	// reader does not read from the cache: a step that was noted just now must not
	// be taken again.
	reader   client.Reader
	recorder events.EventRecorder
	settings Settings
	now      func() time.Time
}

// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarks,verbs=get;list;watch
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarks/finalizers,verbs=update
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=shardyard.dev,resources=shardnetworks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=shardyard.dev,resources=faults,verbs=list
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, settings Settings) error {
	reconciler := &Reconciler{
		client:   manager.GetClient(),
		reader:   manager.GetAPIReader(),
		recorder: manager.GetEventRecorder(FieldManager),
		settings: settings,
		now:      time.Now,
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.Benchmark{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&v1alpha1.ShardNetwork{}).
		Owns(&corev1.Pod{}).
		Complete(reconciler)
}
