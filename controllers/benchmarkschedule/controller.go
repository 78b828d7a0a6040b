// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"time"
	// The image of the operator has no time zones of its own.
	_ "time/tzdata"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// FieldManager owns the fields that this controller applies.
	FieldManager = "shardyard-benchmark-schedule"
	// lookInterval is how often a schedule is looked at whose time is far away: the
	// clock of the machine may be set meanwhile.
	lookInterval = 10 * time.Minute
)

// Reconciler reconciles BenchmarkSchedules.
type Reconciler struct {
	client client.Client
	// reader does not read from the cache: what was made just now must be seen.
	reader   client.Reader
	recorder events.EventRecorder
	now      func() time.Time
}

// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarkschedules,verbs=get;list;watch
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarkschedules/finalizers,verbs=update
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarkschedules/status,verbs=patch
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager) error {
	reconciler := &Reconciler{
		client:   manager.GetClient(),
		reader:   manager.GetAPIReader(),
		recorder: manager.GetEventRecorder(FieldManager),
		now:      time.Now,
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.BenchmarkSchedule{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&v1alpha1.Benchmark{}).
		Complete(reconciler)
}
