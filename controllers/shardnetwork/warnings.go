// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// warningInterval is how often events are read.
	warningInterval = 5 * time.Second

	// warningAge is how long an event explains why a pod is not there: a pod
	// that its machine refuses is soon replaced by one that is refused as well.
	warningAge = time.Minute

	// retryAge is the longest pause of the cluster between two attempts to make
	// a pod that it refuses, and a little more.
	retryAge = 17 * time.Minute
)

// readWarnings reads what the cluster says about pods that do not come up. It
// is the only word on some troubles: a policy that forbids a pod, or a machine
// that cannot set it up.
func (r *run) readWarnings(ctx context.Context) error {
	var silent []*policy.Node
	for i := range r.observation.Nodes {
		if node := &r.observation.Nodes[i]; !node.Unobserved && needsExplanation(node) {
			silent = append(silent, node)
		}
	}
	if len(silent) == 0 {
		r.memory.warnings = nil
		return nil
	}
	if r.now().Sub(r.memory.lastWarnings) >= warningInterval {
		found := map[string][]corev1.Event{}
		for _, s := range r.sites {
			if err := r.listWarnings(ctx, s, found); err != nil {
				return s.wrap(err)
			}
		}
		r.memory.warnings, r.memory.lastWarnings = found, r.now()
	}
	for _, node := range silent {
		node.Warnings = r.warningsOf(node)
	}
	return nil
}

func needsExplanation(node *policy.Node) bool {
	return node.Pod == nil || node.Pod.Status.Phase == corev1.PodPending || node.Pod.Status.Phase == corev1.PodFailed
}

// listWarnings finds the warnings about the pods and StatefulSets that a cluster
// has of the network, by name. One request for all costs less than one for each:
// nodes that do not come up are often many.
func (r *run) listWarnings(ctx context.Context, s *site, found map[string][]corev1.Event) error {
	if s.lost != nil || len(s.validators) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list := &corev1.EventList{}
	err := s.reader.List(ctx, list, client.InNamespace(r.network.Namespace),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("type", corev1.EventTypeWarning)})
	if !s.home() && fleet.Unavailable(err) {
		// The next run finds that the cluster cannot be used.
		return nil
	}
	if err != nil {
		return fmt.Errorf("list warnings: %w", err)
	}
	ours := map[string]bool{}
	for _, validator := range s.validators {
		ours[validator.Name], ours[resources.PodName(validator.Name)] = true, true
	}
	for i := range list.Items {
		if name := list.Items[i].InvolvedObject.Name; ours[name] {
			found[name] = append(found[name], list.Items[i])
		}
	}
	return nil
}

// warningsOf are the warnings about a node's pod and StatefulSet, the latest
// first.
func (r *run) warningsOf(node *policy.Node) []string {
	var found []corev1.Event
	for _, name := range []string{resources.PodName(node.Validator.Name), node.Validator.Name} {
		for i := range r.memory.warnings[name] {
			if event := &r.memory.warnings[name][i]; r.explains(event, node.Pod) {
				found = append(found, *event)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b corev1.Event) int { return eventTime(&b).Compare(eventTime(&a)) })
	words := make([]string, 0, len(found))
	for i := range found {
		words = append(words, found[i].Reason+": "+found[i].Message)
	}
	return words
}

// explains says whether a warning is about the present pod or recent, or why
// there is none.
func (r *run) explains(event *corev1.Event, pod *corev1.Pod) bool {
	if pod == nil && event.InvolvedObject.Kind == "StatefulSet" {
		return r.now().Sub(eventTime(event)) < retryAge
	}
	return pod != nil && event.InvolvedObject.UID == pod.UID || r.now().Sub(eventTime(event)) < warningAge
}

// eventTime is when an event was last seen; its kinds say so in different
// fields.
func eventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	default:
		return event.CreationTimestamp.Time
	}
}
