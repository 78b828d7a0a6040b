// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

const (
	// stepInterval keeps a benchmark that moves on from taking all of its steps at
	// once.
	stepInterval = 200 * time.Millisecond
	// maxNoteBytes is the longest note of an event that the API server takes.
	maxNoteBytes = 1024
)

// report writes the status when it has changed.
func (r *run) report(ctx context.Context) error {
	r.status.ObservedGeneration = r.benchmark.Generation
	r.status.RunsSummary = policy.RunsSummary(r.status, len(r.runs))
	if equality.Semantic.DeepEqual(&r.benchmark.Status, r.status) {
		return nil
	}
	r.moved = true
	if err := r.writeStatus(ctx); err != nil {
		return err
	}
	r.tell(ctx)
	return nil
}

// writeStatus writes the status as it stands, unless somebody else wrote one since
// the benchmark was read: two steps would be taken from one place.
func (r *run) writeStatus(ctx context.Context) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.status)
	if err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmark))
	object.SetNamespace(r.benchmark.Namespace)
	object.SetName(r.benchmark.Name)
	object.SetResourceVersion(r.benchmark.ResourceVersion)
	if err := r.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// tell makes an event of what a benchmark came to, and has the log say each step.
func (r *run) tell(ctx context.Context) {
	ready := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	ctrl.LoggerFrom(ctx).Info("benchmark moved on",
		"phase", r.status.Phase, "runs", r.status.RunsSummary, "reason", ready.Reason, "message", ready.Message)
	before := meta.FindStatusCondition(r.benchmark.Status.Conditions, v1alpha1.ConditionReady)
	if before != nil && before.Reason == ready.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if ready.Reason != v1alpha1.ReasonUnderWay && ready.Reason != v1alpha1.ReasonSucceeded {
		kind = corev1.EventTypeWarning
	}
	note := fmt.Sprintf("%s: %s", r.status.Phase, ready.Message)
	if len(note) > maxNoteBytes {
		note = strings.ToValidUTF8(note[:maxNoteBytes-len("…")], "") + "…"
	}
	r.recorder.Eventf(r.benchmark, nil, kind, ready.Reason, v1alpha1.ConditionReady, "%s", note)
}
