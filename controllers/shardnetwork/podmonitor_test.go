// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/apiserver"
)

// podMonitorCRD names the file of the kind PodMonitor.
const podMonitorCRD = "PODMONITOR_CRD"

// installPodMonitors has the member's API server serve the kind PodMonitor, as
// the Prometheus operator does.
func installPodMonitors(t *testing.T) {
	t.Helper()
	file := os.Getenv(podMonitorCRD)
	if file == "" {
		t.Fatalf("%s is not set: it names the file of the CRD; \"make test-go\" sets it", podMonitorCRD)
	}
	if err := apiserver.InstallCRDs(memberServer, file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "podmonitors.monitoring.coreos.com"}}
		if err := envtest.UninstallCRDs(memberServer, envtest.CRDInstallOptions{
			CRDs: []*apiextensionsv1.CustomResourceDefinition{crd},
		}); err != nil {
			t.Error(err)
		}
	})
}

// The kind is there for all networks of a cluster, or for none.
func TestPodMonitor(t *testing.T) {
	t.Parallel()
	installPodMonitors(t)
	t.Run("comes and goes", testPodMonitorComesAndGoes)
	t.Run("after a failure", testPodMonitorAfterAFailure)
	t.Run("of a refused network", testPodMonitorOfRefusedNetwork)
	t.Run("before the pin", testPodMonitorBeforeThePin)
}

// A cluster with the Prometheus operator scrapes what runs in it.
func testPodMonitorComesAndGoes(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Regions = []v1alpha1.Region{{Name: "there", Nodes: 4, Cluster: far}}
	})
	here.eventually(network, func() error {
		return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionTrue)
	})
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied)

	made := resources.NewPodMonitor(network, nil, resources.LibraryMetricsDrop)
	monitor := &unstructured.Unstructured{}
	monitor.SetGroupVersionKind(resources.KindPodMonitor)
	monitor.SetNamespace(made.GetNamespace())
	monitor.SetName(made.GetName())
	there.read(monitor)
	if !reflect.DeepEqual(monitor.Object["spec"], made.Object["spec"]) {
		t.Errorf("the API server keeps\n%v\nof\n%v", monitor.Object["spec"], made.Object["spec"])
	}

	// One that is as it should be costs nothing.
	version := monitor.GetResourceVersion()
	here.clock = here.clock.Add(podMonitorInterval)
	here.mustReconcile(network)
	there.read(monitor)
	if monitor.GetResourceVersion() != version {
		t.Error("the PodMonitor is written although nothing changed")
	}

	// What others change is put right.
	endpoints := []any{map[string]any{"port": "other"}}
	if err := unstructured.SetNestedSlice(monitor.Object, endpoints, "spec", "podMetricsEndpoints"); err != nil {
		t.Fatal(err)
	}
	if err := there.client.Update(t.Context(), monitor); err != nil {
		t.Fatal(err)
	}
	here.clock = here.clock.Add(podMonitorInterval)
	here.mustReconcile(network)
	there.read(monitor)
	if !reflect.DeepEqual(monitor.Object["spec"], made.Object["spec"]) {
		t.Errorf("the PodMonitor stays as others made it: %v", monitor.Object["spec"])
	}

	// In a cluster that cannot be used it may not be any more.
	there.gate.set(true)
	here.clock = here.clock.Add(podMonitorInterval)
	here.eventually(network, func() error { return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionUnknown) })
	message := check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable)
	if !strings.HasPrefix(message, "whether the nodes in far are scraped is not known") {
		t.Errorf("the message is %q", message)
	}
	there.gate.set(false)
	here.eventually(network, func() error { return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionTrue) })

	// It goes with the network.
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		if err := here.isGone(network); err != nil {
			return err
		}
		if left := there.podMonitors(); len(left) > 0 {
			return fmt.Errorf("the PodMonitors %v stay", left)
		}
		return nil
	})
}

// A PodMonitor that cannot be made is tried again soon.
func testPodMonitorAfterAFailure(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Regions = []v1alpha1.Region{{Name: "there", Nodes: 4, Cluster: far}}
	})
	// Somebody else's, of the same name.
	made := resources.NewPodMonitor(network, nil, resources.LibraryMetricsDrop)
	other := &unstructured.Unstructured{}
	other.SetGroupVersionKind(resources.KindPodMonitor)
	other.SetNamespace(made.GetNamespace())
	other.SetName(made.GetName())
	if err := unstructured.SetNestedField(other.Object, made.Object["spec"], "spec"); err != nil {
		t.Fatal(err)
	}
	if err := there.client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionFalse)
	})
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorFailed)

	if err := there.client.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	here.clock = here.clock.Add(podMonitorRetry)
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied)
}

// A network that is not made has no PodMonitor either: nothing would remove it
// from a member when the network is deleted.
func testPodMonitorOfRefusedNetwork(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning(budget(1))
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, v1alpha1.ReasonCostUnknown)
	if made := there.podMonitors(); len(made) > 0 {
		t.Errorf("a refused network has the PodMonitors %v", made)
	}

	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error { return here.isGone(network) })
	if left := there.podMonitors(); len(left) > 0 {
		t.Errorf("a refused network that was deleted leaves the PodMonitors %v", left)
	}

	// One of the same name that is not refused finds no name taken.
	network = here.createSpanning()
	here.eventually(network, func() error {
		return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionFalse)
	})
	// The member alone has the kind.
	found := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionMonitored)
	if !strings.Contains(found.Message, "in the operator's own cluster:") {
		t.Errorf("the message is %q, want one that names the cluster without the kind", found.Message)
	}
	if made := there.podMonitors(); len(made) != 1 {
		t.Errorf("the network has the PodMonitors %v, want one", made)
	}
}

// A member has nothing of a network before the status says which cluster that is: a
// network that is deleted does not look for it there.
func testPodMonitorBeforeThePin(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	// The first write is that of the finalizers.
	here.killAfter.Store(1)
	if err := here.reconcile(network); !errors.Is(err, errKilled) {
		t.Fatalf("the operator ends with %v", err)
	}
	if made := there.podMonitors(); len(made) > 0 {
		t.Errorf("the member has the PodMonitors %v", made)
	}
}

// podMonitors are the names of those in the member's namespace.
func (m *member) podMonitors() []string {
	m.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(resources.KindPodMonitor)
	if err := m.client.List(m.t.Context(), list, client.InNamespace(m.namespace)); err != nil {
		m.t.Fatal(err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	return names
}
