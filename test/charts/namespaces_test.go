// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Of several namespaces, the operator keeps the networks of those that it is told,
// and has no rights in any other.
func TestTheOperatorOfSomeNamespaces(t *testing.T) {
	const namespace, elsewhere = "shardyard-system", "elsewhere"
	cluster := startCluster(t)
	if err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}}); err != nil {
		t.Fatal(err)
	}
	cluster.installOperator(t, operatorChart, "--namespace", namespace, "--create-namespace",
		"--set", "watchNamespaces={"+metav1.NamespaceDefault+"}")
	cluster.mustRun(t, "install", "other", testnetChart, "--namespace", elsewhere, "--set", "preset=near-4-shards")
	operator := cluster.startOperator(t, namespace, "op-shardyard")

	t.Run("makes a network and cleans up after it", func(t *testing.T) {
		cluster.mustRun(t, "install", "four", testnetChart, "--set", "preset=near-4-shards")
		eventually(t, func(ctx context.Context) error { return cluster.isApplied(ctx, "four", 4) })
		cluster.holdPod(t, "four")
		cluster.mustRun(t, "uninstall", "four")
		eventually(t, func(ctx context.Context) error { return cluster.isGone(ctx, "four") })
	})
	t.Run("makes the network of a benchmark", cluster.testBenchmark)
	t.Run("makes the benchmarks of a schedule", cluster.testBenchmarkSchedule)
	t.Run("takes a fault on", cluster.testFault)
	t.Run("makes agents that tune machines", func(t *testing.T) { cluster.tune(t, "op-shardyard-node-tuning") })

	t.Run("leaves a network elsewhere alone", func(t *testing.T) {
		var network v1alpha1.ShardNetwork
		if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: elsewhere, Name: "other"}, &network); err != nil {
			t.Fatal(err)
		}
		if len(network.Finalizers) > 0 || network.Status.ObservedGeneration != -1 || len(network.Status.Conditions) > 0 {
			t.Errorf("it has finalizers %v and the status %+v", network.Finalizers, network.Status)
		}
		var sets appsv1.StatefulSetList
		if err := cluster.List(t.Context(), &sets, client.InNamespace(elsewhere)); err != nil || len(sets.Items) > 0 {
			t.Errorf("it has %d validators: %v", len(sets.Items), err)
		}
	})
	t.Run("has rights where it needs them, and nowhere else", func(t *testing.T) {
		var role rbacv1.Role
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "op-shardyard"}
		if err := cluster.Get(t.Context(), key, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, of := range requestsOf(rule) {
				cluster.checkRight(t, of, metav1.NamespaceDefault, true)
				cluster.checkRight(t, of, elsewhere, false)
				cluster.checkRight(t, of, "", false)
			}
		}
	})

	t.Run("leaves room for another operator", func(t *testing.T) {
		cluster.mustRun(t, "install", "team", operatorChart, "--namespace", "team-system", "--create-namespace",
			"--set", "watchNamespaces={"+elsewhere+"},crds.enabled=false,nodeTuning.enabled=false")
		another := cluster.startOperator(t, "team-system", "team-shardyard")
		eventually(t, func(ctx context.Context) error {
			var network v1alpha1.ShardNetwork
			if err := cluster.Get(ctx, client.ObjectKey{Namespace: elsewhere, Name: "other"}, &network); err != nil {
				return err
			}
			if !meta.IsStatusConditionTrue(network.Status.Conditions, v1alpha1.ConditionApplied) {
				return fmt.Errorf("not everything is applied: %+v", network.Status.Conditions)
			}
			return nil
		})
		another.stop(t)
	})

	// That it was refused nothing is checked here.
	operator.stop(t)
}

// requestsOf are the requests that a rule allows.
func requestsOf(rule rbacv1.PolicyRule) []authorizationv1.ResourceAttributes {
	var requests []authorizationv1.ResourceAttributes
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				requests = append(requests, authorizationv1.ResourceAttributes{Group: group, Resource: resource, Verb: verb})
			}
		}
	}
	return requests
}

// checkRight asks whether the operator may make a request in a namespace, or in all.
func (c cluster) checkRight(t *testing.T, request authorizationv1.ResourceAttributes, namespace string, want bool) {
	t.Helper()
	request.Namespace = namespace
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:shardyard-system:op-shardyard", ResourceAttributes: &request,
	}}
	if err := c.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	if review.Status.Allowed != want {
		t.Errorf("that it may %s %s in %q is %t, want %t", request.Verb, request.Resource, namespace, review.Status.Allowed, want)
	}
}

// The roles of an operator of some namespaces are those of an operator of all, each
// rule where the API server has what it is about.
func TestTheRolesOfSomeNamespaces(t *testing.T) {
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart)
	whole := ruleSet(operatorRole(t).Rules)
	rendered := renderOperator(t, "--set", "watchNamespaces={one,two}")

	parts := map[string][]string{}
	for _, role := range ofType[*rbacv1.Role](rendered) {
		if role.Name == "test-shardyard" {
			parts[role.Namespace] = ruleSet(role.Rules)
		}
	}
	if !slices.Equal(parts["one"], parts["two"]) || len(parts) != 2 {
		t.Fatalf("the roles are %v, want the same in two namespaces", parts)
	}
	ofCluster := ruleSet(operatorRole(t, "--set", "watchNamespaces={one,two}").Rules)
	together := slices.Sorted(slices.Values(slices.Concat(ofCluster, parts["one"])))
	if !slices.Equal(together, whole) {
		t.Errorf("the roles allow\n%v\nwant\n%v", together, whole)
	}

	for _, rule := range operatorRole(t).Rules {
		for _, of := range requestsOf(rule) {
			namespaced, err := cluster.isNamespaced(schema.GroupResource{Group: of.Group, Resource: of.Resource})
			if meta.IsNoMatchError(err) {
				// Of the Prometheus operator.
				namespaced, err = true, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			if where := parts["one"]; namespaced != slices.Contains(where, ruleName(of)) {
				t.Errorf("%s is in the role of a namespace: %t, want %t", ruleName(of), !namespaced, namespaced)
			}
		}
	}
}

// operatorRole is what the operator may do everywhere.
func operatorRole(t *testing.T, arguments ...string) *rbacv1.ClusterRole {
	t.Helper()
	for _, role := range ofType[*rbacv1.ClusterRole](renderOperator(t, arguments...)) {
		if role.Name == "test-shardyard" {
			return role
		}
	}
	t.Fatal("the operator has no role")
	return nil
}

func ruleName(of authorizationv1.ResourceAttributes) string {
	return fmt.Sprintf("%s %s.%s", of.Verb, of.Resource, of.Group)
}

// ruleSet are the requests that rules allow, each once and in order.
func ruleSet(rules []rbacv1.PolicyRule) []string {
	var names []string
	for _, rule := range rules {
		for _, of := range requestsOf(rule) {
			names = append(names, ruleName(of))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isNamespaced asks the API server whether objects, or what is below them, are in
// namespaces.
func (c cluster) isNamespaced(resource schema.GroupResource) (bool, error) {
	resource.Resource, _, _ = strings.Cut(resource.Resource, "/")
	kind, err := c.RESTMapper().KindFor(resource.WithVersion(""))
	if err != nil {
		return false, err
	}
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return false, err
	}
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}
