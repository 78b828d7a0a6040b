// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
)

const interruptionNamespace = "interrupted"

// testInterruption takes the operator away while it makes a network, at each of
// the steps that must not be done twice.
func (c *cluster) testInterruption(t *testing.T) {
	c.newNamespace(t, interruptionNamespace, "restricted")
	documents := c.countGenesisDocuments(t)
	spec := newSpecOfFour()
	n := c.create(t, interruptionNamespace, "interrupted", &spec)

	for _, step := range []client.ObjectList{&corev1.SecretList{}, &corev1.ConfigMapList{}, &appsv1.StatefulSetList{}} {
		eventually(t, fmt.Sprintf("the first of a %T", step), func(ctx context.Context) error { return n.holds(ctx, step) })
		c.killOperator(t)
	}

	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	if made := documents(t); made != 1 {
		t.Errorf("%d genesis documents were made, want 1", made)
	}
	n.checkKeys(t)
	n.remove(t)
	n.waitForEnd(t)
}

// countGenesisDocuments counts how often a genesis document is made from now on, until the
// result is called.
func (c *cluster) countGenesisDocuments(t *testing.T) (made func(t *testing.T) int) {
	t.Helper()
	here, documents := client.InNamespace(interruptionNamespace), &corev1.ConfigMapList{}
	if err := c.List(t.Context(), documents, here); err != nil {
		t.Fatal(err)
	}
	// The API server ends a watch that is slow to be read: it goes on where it was.
	events, err := watchtools.NewRetryWatcherWithContext(t.Context(), documents.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, from metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &corev1.ConfigMapList{}, &client.ListOptions{Raw: &from}, here)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(events.Stop)
	var stopping atomic.Bool
	var violation error
	count, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		var last any
		for event := range events.ResultChan() {
			last = event.Object
			document, isDocument := event.Object.(*corev1.ConfigMap)
			if isDocument && event.Type == watch.Added && document.Name == resources.GenesisName("interrupted") {
				count++
			}
		}
		if !stopping.Load() {
			violation = fmt.Errorf("the watch ended: %v", last)
		}
	}()
	return func(t *testing.T) int {
		t.Helper()
		stopping.Store(true)
		events.Stop()
		<-ended
		if violation != nil {
			t.Error(violation)
		}
		return count
	}
}

// holds says nothing when the network has an object of the list's kind.
func (n *network) holds(ctx context.Context, list client.ObjectList) error {
	if err := n.List(ctx, list, client.InNamespace(n.namespace),
		client.MatchingLabels{resources.LabelNetwork: n.name}, client.Limit(1)); err != nil {
		return err
	}
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	var objects struct{ Items []json.RawMessage }
	if err := json.Unmarshal(content, &objects); err != nil {
		return err
	}
	if len(objects.Items) == 0 {
		return errors.New("there is none")
	}
	return nil
}

// killOperator deletes the operator's pod without any time to finish.
func (c *cluster) killOperator(t *testing.T) {
	t.Helper()
	if err := c.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(operatorNamespace),
		client.MatchingLabels{"app.kubernetes.io/name": "shardyard"}, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
}

// checkKeys checks that the genesis document names the keys in the Secrets, and
// that there are no others.
func (n *network) checkKeys(t *testing.T) {
	t.Helper()
	document := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: n.namespace, Name: resources.GenesisName(n.name)}
	if err := n.Get(t.Context(), key, document); err != nil {
		t.Fatal(err)
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal([]byte(resources.GenesisFile(document)), &genesis); err != nil {
		t.Fatal(err)
	}
	secrets := &corev1.SecretList{}
	if err := n.List(t.Context(), secrets, client.InNamespace(n.namespace)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{resources.AdminTokenName(n.name): ""}
	for _, validator := range genesis.Validators {
		want[resources.KeyName(validator.Name)] = validator.PublicKey
	}
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		public, named := want[secret.Name]
		if !named {
			t.Errorf("the Secret %s is of no validator", secret.Name)
			continue
		}
		delete(want, secret.Name)
		if public == "" {
			continue
		}
		key, err := keys.Parse(resources.KeyFile(secret))
		if err != nil {
			t.Errorf("the Secret %s: %v", secret.Name, err)
		} else if held := fmt.Sprintf("%x", key.Public()); held != public {
			t.Errorf("the Secret %s holds the key %s, the genesis document names %s", secret.Name, held, public)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no Secrets %v", slices.Sorted(maps.Keys(want)))
	}
}
