// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A kind that the operator is refused counts until it was not refused again for a
// while, and is logged once.
func TestRefusedWatches(t *testing.T) {
	t.Parallel()
	faults := schema.GroupResource{Group: "shardyard.dev", Resource: "faults"}
	pods := schema.GroupResource{Resource: "pods"}
	var logged []string
	watches := NewWatches(funcr.New(func(_, words string) { logged = append(logged, words) }, funcr.Options{}))
	now := time.Unix(1000, 0)
	watches.now = func() time.Time { return now }
	refused := fmt.Errorf("failed to list *v1alpha1.Fault: %w",
		apierrors.NewForbidden(faults, "", errors.New(`User "op" cannot list resource "faults"`)))
	says := func() string {
		t.Helper()
		if err := watches.Check(pods)(nil); err != nil {
			t.Errorf("nobody refused pods, and the check says %v", err)
		}
		if err := watches.Check(faults)(nil); err != nil {
			return err.Error()
		}
		return ""
	}

	watches.note(errors.New("connection refused"))
	watches.note(apierrors.NewNotFound(faults, ""))
	if words := says(); words != "" {
		t.Errorf("nothing was refused, and the check says %s", words)
	}
	for range 3 {
		watches.note(refused)
		now = now.Add(time.Minute)
	}
	if words := says(); !strings.Contains(words, "faults.shardyard.dev") || !strings.Contains(words, "cannot list") {
		t.Errorf("the check says %q, want it to name the kind and the right", words)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "faults.shardyard.dev") {
		t.Errorf("of one trouble, it logs %q", logged)
	}
	checkRefused(t, watches, "faults")

	now = now.Add(refusalLasts)
	if words := says(); words != "" {
		t.Errorf("it is over, and the check says %s", words)
	}
	checkRefused(t, watches)
	watches.note(refused)
	if words := says(); words == "" || len(logged) != 2 {
		t.Errorf("it is refused again: the check says %q, and it logs %q", words, logged)
	}
}

// checkRefused checks which kinds the metric has.
func checkRefused(t *testing.T, watches *Watches, want ...string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := registry.Register(watches); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "resource" {
					found = append(found, label.GetValue())
				}
			}
		}
	}
	if strings.Join(found, ",") != strings.Join(want, ",") {
		t.Errorf("the metric has %v, want %v", found, want)
	}
}
