// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	// FieldManager owns the fields that this controller applies.
	FieldManager = "shardyard-node-tuning"
	// pollInterval is how often agents are asked.
	pollInterval = 5 * time.Second
)

// Settings are what the operator was started with.
type Settings struct {
	// Namespace is where agents run; empty when there may be none.
	Namespace string
	// Image is the agents' image, which is the operator's.
	Image string
	// RestoreOnly has all machines get their old values back.
	RestoreOnly bool
}

// Reconciler reconciles NodeTunings.
type Reconciler struct {
	client client.Client
	// reader does not read from the cache.
	reader   client.Reader
	recorder events.EventRecorder
	settings Settings
	agents   agents
	drift    *drift.Detector
	now      func() time.Time
	// readBack is when machines were last seen to have all settings, by
	// NodeTuning. One worker reads and writes it.
	readBack map[string]map[string]time.Time
}

// agents are asked what they found, by the address of their machine.
type agents interface {
	Report(ctx context.Context, address string) (*tuning.Report, error)
}

// DaemonSets are not among the rights that hold everywhere: the chart grants
// them in the namespace of the agents alone, where more than restricted pods may
// run.
//
// +kubebuilder:rbac:groups=shardyard.dev,resources=nodetunings,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=shardyard.dev,resources=nodetunings/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, settings Settings) error {
	reconciler := &Reconciler{
		client:   manager.GetClient(),
		reader:   manager.GetAPIReader(),
		recorder: manager.GetEventRecorder(FieldManager),
		settings: settings,
		agents:   tuning.NewClient(tuning.Port),
		drift:    drift.NewDetector(manager.GetScheme(), FieldManager),
		now:      time.Now,
		readBack: map[string]map[string]time.Time{},
	}
	controller := ctrl.NewControllerManagedBy(manager).
		// The time of deletion counts as a change of generation.
		For(&v1alpha1.NodeTuning{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	if settings.Namespace != "" {
		// Without agents, the operator has no right to see DaemonSets.
		ofTuning := handler.EnqueueRequestsFromMapFunc(tuningOf)
		controller = controller.Watches(&appsv1.DaemonSet{}, ofTuning).Watches(&corev1.Pod{}, ofTuning)
	}
	return controller.Complete(reconciler)
}

// tuningOf is the NodeTuning that an object's labels name.
func tuningOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[resources.LabelNodeTuning]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}
