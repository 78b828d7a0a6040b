// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
)

func TestTheOperatorWithTheRightsOfItsChart(t *testing.T) {
	const namespace = "shardyard-system"
	cluster := startCluster(t)
	cluster.installPrometheusRules(t)
	cluster.installOperator(t, operatorChart, "--namespace", namespace, "--create-namespace",
		"--set", "podMonitorLabels.release=monitoring", "--set", "rules.labels.release=monitoring")
	operator := cluster.startOperator(t, namespace, "op-shardyard")

	t.Run("makes a network and cleans up after it", func(t *testing.T) {
		// This preset has volumes with a storage class of their own.
		cluster.mustRun(t, "install", "four", testnetChart, "--set", "preset=near-4-shards")
		eventually(t, func(ctx context.Context) error { return cluster.isApplied(ctx, "four", 4) })
		cluster.holdPod(t, "four")
		cluster.mustRun(t, "uninstall", "four")
		eventually(t, func(ctx context.Context) error { return cluster.isGone(ctx, "four") })
	})

	t.Run("leads clients to a network, and no more", cluster.testRoute)

	t.Run("makes the network of a benchmark", cluster.testBenchmark)

	t.Run("makes the benchmarks of a schedule", cluster.testBenchmarkSchedule)

	t.Run("takes a fault on", cluster.testFault)

	t.Run("makes agents that tune machines", func(t *testing.T) { cluster.tune(t, "op-shardyard-node-tuning") })

	t.Run("shows its metrics to readers of metrics alone", func(t *testing.T) {
		for _, name := range []string{"reader", "stranger"} {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			if err := cluster.Create(t.Context(), account); err != nil {
				t.Fatal(err)
			}
		}
		if err := cluster.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "op-shardyard-metrics-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "reader"}},
		}); err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]int{
			cluster.token(t, namespace, "reader"):   http.StatusOK,
			cluster.token(t, namespace, "stranger"): http.StatusForbidden,
			"":                                      http.StatusUnauthorized,
		} {
			eventually(t, func(ctx context.Context) error {
				status, _, err := operator.metrics(ctx, token)
				if err == nil && status != want {
					err = fmt.Errorf("the status is %d, want %d", status, want)
				}
				return err
			})
		}
		token := cluster.token(t, namespace, "reader")
		_, exported, err := operator.metrics(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		checkOperatorMetrics(t, exported)
		if want := `version="development"} 1`; !strings.Contains(exported, "\nshardyard_build_info{") || !strings.Contains(exported, want) {
			t.Error("the operator does not export its version")
		}
		// Without a network, there is no work that takes any time.
		cluster.mustRun(t, "install", "seen", testnetChart, "--set", "preset=quickstart")
		operator.checkDashboard(t, token)
		cluster.mustRun(t, "uninstall", "seen")
		eventually(t, func(ctx context.Context) error { return cluster.isGone(ctx, "seen") })
	})

	t.Run("comes with rules that an API server takes", func(t *testing.T) { cluster.checkRules(t, namespace, "op-shardyard") })

	operator.stop(t)
}

// testRoute checks that the operator makes an Ingress, and removes it.
func (c cluster) testRoute(t *testing.T) {
	network, err := manifest.Read(filepath.Join(samples, "clients", "rpc-ingress.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	network.Namespace = metav1.NamespaceDefault
	if err := c.Create(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: network.Namespace, Name: resources.RPCServiceName(network.Name)}
	eventually(t, func(ctx context.Context) error { return c.Get(ctx, key, &networkingv1.Ingress{}) })

	before := network.DeepCopy()
	network.Spec.RPCRoute = nil
	if err := c.Patch(t.Context(), network, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, key, &networkingv1.Ingress{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Ingress is still there: %w", err)
		}
		return nil
	})
	if err := c.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error { return c.isGone(ctx, network.Name) })
}

// isApplied says whether the operator made all validators of a network, and all
// else that belongs to it.
func (c cluster) isApplied(ctx context.Context, name string, validators int) error {
	var network v1alpha1.ShardNetwork
	if err := c.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, &network); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(network.Status.Conditions, v1alpha1.ConditionApplied) {
		return fmt.Errorf("not everything is applied: %+v", network.Status.Conditions)
	}
	var sets appsv1.StatefulSetList
	if err := c.List(ctx, &sets); err != nil {
		return err
	}
	if len(sets.Items) != validators {
		return fmt.Errorf("there are %d validators, want %d", len(sets.Items), validators)
	}
	return nil
}

// holdPod checks that the operator looks for the machines of pods, and takes back
// that a pod may be evicted whose machine nobody drains.
func (c cluster) holdPod(t *testing.T, network string) {
	t.Helper()
	validator := network + "-s0-p0"
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: resources.PodName(validator), Labels: resources.NetworkLabels(network),
		},
		Spec: corev1.PodSpec{
			NodeName:                      "gone",
			Containers:                    []corev1.Container{{Name: resources.ContainerName, Image: "shardnode"}},
			TerminationGracePeriodSeconds: new(int64),
		},
	}
	pod.Labels[resources.LabelEviction] = resources.EvictionAllowed
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if value, ok := pod.Labels[resources.LabelEviction]; ok {
			return fmt.Errorf("eviction is %s", value)
		}
		return nil
	})
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// isGone says whether a network is gone, and its storage class with it.
func (c cluster) isGone(ctx context.Context, name string) error {
	key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}
	if err := c.Get(ctx, key, &v1alpha1.ShardNetwork{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the network is still there: %w", err)
	}
	var classes storagev1.StorageClassList
	if err := c.List(ctx, &classes); err != nil {
		return err
	}
	if len(classes.Items) > 0 {
		return fmt.Errorf("storage classes are left: %v", classes.Items)
	}
	return nil
}
