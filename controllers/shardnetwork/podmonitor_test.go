// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
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
	if _, err := envtest.InstallCRDs(memberServer, envtest.CRDInstallOptions{
		Paths:              []string{file},
		ErrorIfPathMissing: true,
	}); err != nil {
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

// A cluster with the Prometheus operator scrapes what runs in it.
func TestPodMonitor(t *testing.T) {
	t.Parallel()
	installPodMonitors(t)
	here := newCluster(t)
	there := here.joinMember()
	network := here.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Regions = []v1alpha1.Region{{Name: "there", Nodes: 4, Cluster: far}}
	})
	here.eventually(network, func() error {
		return here.has(network, v1alpha1.ConditionMonitored, metav1.ConditionTrue)
	})
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied)

	made := resources.NewPodMonitor(network, nil)
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

	// It goes with the network.
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	here.eventually(network, func() error {
		if err := here.isGone(network); err != nil {
			return err
		}
		monitors := &unstructured.UnstructuredList{}
		monitors.SetGroupVersionKind(resources.KindPodMonitor)
		if err := there.client.List(t.Context(), monitors); err != nil {
			return fmt.Errorf("list PodMonitors: %w", err)
		}
		if len(monitors.Items) > 0 {
			return errors.New("the PodMonitor stays")
		}
		return nil
	})
}
