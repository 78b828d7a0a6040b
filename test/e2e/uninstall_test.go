// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inventory is everything that a cluster holds.
type inventory map[string]bool

// inventory lists every object but events, which go by themselves, and what the
// nodes say that they live by.
func (c *cluster) inventory(ctx context.Context) (inventory, error) {
	lists, err := c.clientset.Discovery().ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	reader, err := metadata.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	found := inventory{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if resource.Name == "events" {
				continue
			}
			objects, err := reader.Resource(version.WithResource(resource.Name)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("list %s of %s: %w", resource.Name, version, err)
			}
			for i := range objects.Items {
				if object := &objects.Items[i]; object.Namespace != corev1.NamespaceNodeLease {
					found[fmt.Sprintf("%s %s/%s", resource.Name, object.Namespace, object.Name)] = true
				}
			}
		}
	}
	return found, nil
}

// testUninstall uninstalls the operator. By then the networks are gone, and what
// is left is what was there before, and what the test made itself.
func (c *cluster) testUninstall(t *testing.T) {
	var namespaces corev1.NamespaceList
	if err := c.List(t.Context(), &namespaces, client.HasLabels{testLabel}); err != nil {
		t.Fatal(err)
	}
	c.helm.mustRun(t, "uninstall", "shardyard", "--namespace", operatorNamespace, "--wait", "--timeout", patience.String())

	own := inventory{}
	for _, namespace := range namespaces.Items {
		own["namespaces /"+namespace.Name] = true
		// Every namespace has these.
		own["serviceaccounts "+namespace.Name+"/default"] = true
		own["configmaps "+namespace.Name+"/kube-root-ca.crt"] = true
	}
	eventually(t, "an empty cluster", func(ctx context.Context) error { return c.left(ctx, func(object string) bool { return own[object] }) })

	for i := range namespaces.Items {
		if err := c.Delete(t.Context(), &namespaces.Items[i]); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
	eventually(t, "the end of the namespaces", func(ctx context.Context) error { return c.left(ctx, func(string) bool { return false }) })
}

// left says what the cluster holds that it did not hold before.
func (c *cluster) left(ctx context.Context, allowed func(object string) bool) error {
	after, err := c.inventory(ctx)
	if err != nil {
		return err
	}
	var left []string
	for object := range after {
		if !c.before[object] && !allowed(object) {
			left = append(left, object)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("there is\n  %s", strings.Join(left, "\n  "))
	}
	return nil
}
