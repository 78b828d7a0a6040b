// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/resources"
)

// FieldManager owns the fields that the operator applies.
const FieldManager = "shardyard"

const (
	// pollInterval is how often the nodes of a network are asked.
	pollInterval = 5 * time.Second
	// minInterval keeps a burst of events, as when all pods start, from being
	// answered one by one.
	minInterval = 500 * time.Millisecond
	// cacheInterval is how long a network waits that was read from a cache which lags
	// behind what was written, and maxCacheLag bounds for how long it does.
	cacheInterval = 100 * time.Millisecond
	maxCacheLag   = 10 * time.Second
	// maxInterval bounds how long a network waits whose reconciliations fail;
	// each failure doubles the wait.
	maxInterval  = 30 * time.Second
	maxDoublings = 10
	// parallelNetworks is how many networks are reconciled side by side: one
	// whose nodes do not answer keeps no other waiting.
	parallelNetworks = 4
)

// Settings are what the operator was started with.
type Settings struct {
	// DefaultNodeImage is the node image of networks that name none.
	DefaultNodeImage string
	// ClusterDomain is the DNS domain of the operator's own cluster.
	ClusterDomain string
	// OperatorNamespace is where the operator's pods are; empty when it does
	// not run in the cluster.
	OperatorNamespace string
	// OperatorAddress is the IP address of the operator's pod, by which member
	// clusters know it; empty when it does not run in a cluster.
	OperatorAddress string
	// PodMonitorLabels are those that the cluster's Prometheus selects
	// PodMonitors by.
	PodMonitorLabels map[string]string
	// LibraryMetrics says whether Prometheus keeps what the nodes' libraries
	// export.
	LibraryMetrics resources.LibraryMetrics
}

// Reconciler reconciles ShardNetworks.
type Reconciler struct {
	client       client.Client
	reader       client.Reader
	listMachines func(context.Context) (*corev1.NodeList, error)
	recorder     events.EventRecorder
	settings     Settings
	clusters     *fleet.Fleet
	prices       *cost.Prices
	drift        *drift.Detector
	memories     memories
	restarts     *restarts
	now          func() time.Time
}

// +kubebuilder:rbac:groups=shardyard.dev,resources=shardnetworks,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=shardyard.dev,resources=shardnetworks/finalizers,verbs=update
// +kubebuilder:rbac:groups=shardyard.dev,resources=shardnetworks/status,verbs=patch
// +kubebuilder:rbac:groups=shardyard.dev,resources=benchmarks,verbs=get
// +kubebuilder:rbac:groups=shardyard.dev,resources=faults,verbs=get;list;watch
// +kubebuilder:rbac:groups=shardyard.dev,resources=nodetunings,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors,verbs=get;create;patch

// ownedKinds are the kinds of a network's objects, of which a change is answered.
var ownedKinds = []client.Object{
	&appsv1.StatefulSet{},
	&corev1.ConfigMap{},
	&corev1.Secret{},
	&corev1.Service{},
	&policyv1.PodDisruptionBudget{},
	&networkingv1.NetworkPolicy{},
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, settings Settings) error {
	clusters := fleet.New(manager.GetAPIReader(), fleet.Options{
		Scheme:  manager.GetScheme(),
		Cache:   CacheOptions(),
		Watched: append(slices.Clone(ownedKinds), &corev1.Pod{}),
		Network: networkOf,
		Home:    manager.GetClient(),
		Logger:  manager.GetLogger().WithName("fleet"),
	})
	if err := manager.Add(clusters); err != nil {
		return fmt.Errorf("add member clusters: %w", err)
	}
	prices, err := cost.ReadPrices()
	if err != nil {
		return err
	}
	restarts := newRestarts()
	if err := metrics.Registry.Register(restarts); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	reconciler := &Reconciler{
		client: manager.GetClient(),
		reader: manager.GetAPIReader(),
		listMachines: func(ctx context.Context) (*corev1.NodeList, error) {
			return fleet.ListMachines(ctx, manager.GetCache(), manager.GetAPIReader())
		},
		recorder: manager.GetEventRecorder(FieldManager),
		settings: settings,
		clusters: clusters,
		prices:   prices,
		drift:    drift.NewDetector(manager.GetScheme(), FieldManager),
		restarts: restarts,
		now:      time.Now,
	}
	controller := ctrl.NewControllerManagedBy(manager).
		// Labels say whether a benchmark has the nodes carry its load.
		For(&v1alpha1.ShardNetwork{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		WithOptions(controller.Options{MaxConcurrentReconciles: parallelNetworks}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(requestsOf)).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(reconciler.requestsOn),
			builder.WithPredicates(machineChanged)).
		WatchesRawSource(source.Func(func(_ context.Context, queue requests) error {
			clusters.OnChange(func(network types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: network}) })
			return nil
		}))
	for _, kind := range ownedKinds {
		controller = controller.Owns(kind)
	}
	return controller.Complete(reconciler)
}

// requests are the networks that wait to be reconciled.
type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// requestsOf are for the network that an object is of.
func requestsOf(_ context.Context, object client.Object) []reconcile.Request {
	network, ok := networkOf(object)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: network}}
}

// networkOf is the network that an object's labels name.
func networkOf(object client.Object) (types.NamespacedName, bool) {
	network := object.GetLabels()[resources.LabelNetwork]
	if network == "" {
		network = object.GetLabels()[resources.LabelImageProbe]
	}
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: network}, network != ""
}
