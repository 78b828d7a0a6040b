// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/ports"
	"github.com/shardyard/shardyard/test/waiting"
)

// role is the role of the operator.
func role(t *testing.T) *rbacv1.ClusterRole {
	t.Helper()
	content, err := os.ReadFile("../../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(content, role); err != nil {
		t.Fatal(err)
	}
	return role
}

// Of every kind that the operator may watch, and of no other, a check says whether it
// is refused. Those of agents are of a role of their own, in their namespace.
func TestEveryWatchHasACheck(t *testing.T) {
	t.Parallel()
	want := []string{"daemonsets.apps"}
	for _, rule := range role(t).Rules {
		if !slices.Contains(rule.Verbs, "watch") {
			continue
		}
		for _, resource := range rule.Resources {
			want = append(want, strings.TrimSuffix(resource+"."+rule.APIGroups[0], "."))
		}
	}
	var got []string
	for _, kind := range watched {
		got = append(got, kind.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("there are checks of %v, want %v", got, want)
	}
}

// narrowed is a user who has the operator's role, but for a kind. The API server acts by
// it: it learns of rights a little after it has them, and a manager keeps for long that it
// was refused a kind.
func narrowed(t *testing.T, kind string) *rest.Config {
	t.Helper()
	admin, err := client.New(apiServer, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	given := role(t)
	given.Name = "narrowed"
	for i := range given.Rules {
		given.Rules[i].Resources = slices.DeleteFunc(given.Rules[i].Resources, func(name string) bool { return name == kind })
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: given.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: given.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: given.Name}},
	}
	for _, object := range []client.Object{given, binding} {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	waiting.Until(t, given.Name+" has its role", func() bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: given.Name,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "shardnetworks",
			},
		}}
		if err := admin.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	})
	config := rest.CopyConfig(apiServer)
	config.Impersonate = rest.ImpersonationConfig{UserName: given.Name, Groups: []string{"system:authenticated"}}
	return config
}

// probed is a manager that says how it is at an address.
func probed(t *testing.T, config *rest.Config) (made manager.Manager, address string) {
	t.Helper()
	for {
		address = ports.Free(t)
		made, err := newManager(config, &options{nodeImage: "shardnode:test", metricsAddress: "0", probeAddress: address})
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return made, address
	}
}

// An operator that may not list a kind says so, and which.
func TestRefusedWatchIsNotReady(t *testing.T) {
	manager, address := probed(t, narrowed(t, "faults"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	defer func() {
		stop()
		t.Logf("the operator ended while it waited for what it may not list: %v", <-ended)
	}()

	const refused = "watch-faults.shardyard.dev"
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		status, words, err := get(ctx, "http://"+address+"/readyz?verbose")
		return err == nil && status == http.StatusInternalServerError && strings.Contains(words, "[-]"+refused+" failed"), nil
	}); err != nil {
		status, words, err := get(t.Context(), "http://"+address+"/readyz?verbose")
		t.Fatalf("the operator says %d %q (%v), want it to say that %s failed", status, words, err, refused)
	}
	_, words, err := get(t.Context(), "http://"+address+"/readyz?verbose")
	if err != nil || strings.Count(words, "[-]") != 1 {
		t.Errorf("it says %q: %v, want nothing else to fail", words, err)
	}
	_, words, err = get(t.Context(), "http://"+address+"/readyz/"+refused)
	if want := `cannot list resource "faults"`; err != nil || !strings.Contains(words, want) {
		t.Errorf("the check says %q: %v, want %q in it", words, err, want)
	}
	if status, _, err := get(t.Context(), "http://"+address+"/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("it is not healthy: %d, %v", status, err)
	}
}

// get asks for something over HTTP.
func get(ctx context.Context, url string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	content, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("end the answer: %w", closeErr)
	}
	return response.StatusCode, string(content), err
}
