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

	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// warningInterval is how often events are read, and warnedNodes of how many
	// nodes: nodes that do not come up mostly have the same reason.
	warningInterval = 5 * time.Second
	warnedNodes     = 3

	// warningAge is how long an event explains why a pod is not there: a pod
	// that its machine refuses is soon replaced by one that is refused as well.
	warningAge = time.Minute
)

// warnings are the events about one node.
type warnings struct {
	readAt time.Time
	words  []string
}

// readWarnings reads what the cluster says about pods that do not come up. It
// is the only word on some troubles: a policy that forbids a pod, or a machine
// that cannot set it up.
func (r *run) readWarnings(ctx context.Context) error {
	asked := 0
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		name := node.Validator.Name
		if !needsExplanation(node) {
			delete(r.memory.warnings, name)
			continue
		}
		known := r.memory.warnings[name]
		if r.now().Sub(known.readAt) >= warningInterval && asked < warnedNodes {
			asked++
			words, err := r.warningsOf(ctx, node)
			if err != nil {
				return err
			}
			known = warnings{readAt: r.now(), words: words}
			r.memory.warnings[name] = known
		}
		node.Warnings = known.words
	}
	return nil
}

func needsExplanation(node *policy.Node) bool {
	return node.Pod == nil || node.Pod.Status.Phase == corev1.PodPending || node.Pod.Status.Phase == corev1.PodFailed
}

// warningsOf are the warnings about a node's pod and StatefulSet, the latest
// first.
func (r *run) warningsOf(ctx context.Context, node *policy.Node) ([]string, error) {
	var found []corev1.Event
	for _, name := range []string{resources.PodName(node.Validator.Name), node.Validator.Name} {
		list := &corev1.EventList{}
		if err := r.reader.List(ctx, list, client.InNamespace(r.network.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("involvedObject.name", name)}); err != nil {
			return nil, fmt.Errorf("list events of %s: %w", name, err)
		}
		for i := range list.Items {
			if event := &list.Items[i]; r.explains(event, node.Pod) {
				found = append(found, *event)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b corev1.Event) int { return eventTime(&b).Compare(eventTime(&a)) })
	words := make([]string, 0, len(found))
	for i := range found {
		words = append(words, found[i].Reason+": "+found[i].Message)
	}
	return words, nil
}

// explains says whether an event is a warning about the present pod, or recent.
func (r *run) explains(event *corev1.Event, pod *corev1.Pod) bool {
	if event.Type != corev1.EventTypeWarning {
		return false
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
