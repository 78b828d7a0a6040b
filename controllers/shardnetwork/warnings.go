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
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// warningInterval is how often events are read at first, and maxWarningInterval is
	// how seldom at last, of nodes that stay as they are.
	warningInterval    = 5 * time.Second
	maxWarningInterval = 40 * time.Second

	// warningsPerPage is how many events are read at once: a namespace may have very
	// many, of others mostly.
	warningsPerPage = 500

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
	var silent []*observed.Node
	for i := range r.observation.Nodes {
		if node := &r.observation.Nodes[i]; !node.Unobserved && needsExplanation(node) {
			silent = append(silent, node)
		}
	}
	if len(silent) == 0 {
		r.memory.warnings, r.memory.warningLooks = nil, warningLooks{}
		return nil
	}
	if r.memory.warningLooks.due(r.now(), silent) {
		found := map[string][]corev1.Event{}
		for _, s := range r.sites {
			if err := r.listWarnings(ctx, s, found); err != nil {
				return s.wrap(err)
			}
		}
		r.memory.warnings = found
		r.memory.warningLooks.done(r.now(), silent)
	}
	for _, node := range silent {
		node.Warnings = r.warningsOf(node)
	}
	return nil
}

// warningLooks are the looks at events for nodes that do not come up.
type warningLooks struct {
	// last is when the last one was, about which nodes, and pause how long until the
	// next one.
	last  time.Time
	about map[string]bool
	pause time.Duration
}

// due says whether it is time for another look: soon when there is another node to
// explain than at the last one, and less and less often while they are the same.
func (l *warningLooks) due(now time.Time, silent []*observed.Node) bool {
	return now.Sub(l.last) >= l.next(silent)
}

// done notes a look.
func (l *warningLooks) done(now time.Time, silent []*observed.Node) {
	pause := min(2*l.next(silent), maxWarningInterval)
	if l.news(silent) {
		pause = warningInterval
	}
	l.last, l.pause, l.about = now, pause, map[string]bool{}
	for _, node := range silent {
		l.about[node.Validator.Name] = true
	}
}

// next is how long after the last look the next one is.
func (l *warningLooks) next(silent []*observed.Node) time.Duration {
	if l.news(silent) {
		return warningInterval
	}
	return l.pause
}

// news says whether there is a node that the last look was not about.
func (l *warningLooks) news(silent []*observed.Node) bool {
	return slices.ContainsFunc(silent, func(node *observed.Node) bool { return !l.about[node.Validator.Name] })
}

func needsExplanation(node *observed.Node) bool {
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
	ours := map[string]bool{}
	for _, validator := range s.validators {
		ours[validator.Name], ours[resources.PodName(validator.Name)] = true, true
	}
	next := ""
	for {
		list := &corev1.EventList{}
		err := s.reader.List(ctx, list, client.InNamespace(r.network.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("type", corev1.EventTypeWarning)},
			client.Limit(warningsPerPage), client.Continue(next))
		if !s.home() && fleet.Unavailable(err) {
			// The next run finds that the cluster cannot be used.
			return nil
		}
		if err != nil {
			return fmt.Errorf("list warnings: %w", err)
		}
		for i := range list.Items {
			if name := list.Items[i].InvolvedObject.Name; ours[name] {
				found[name] = append(found[name], list.Items[i])
			}
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// warningsOf are the warnings about a node's pod and StatefulSet, the latest
// first.
func (r *run) warningsOf(node *observed.Node) []observed.Warning {
	var found []corev1.Event
	for _, name := range []string{resources.PodName(node.Validator.Name), node.Validator.Name} {
		for i := range r.memory.warnings[name] {
			if event := &r.memory.warnings[name][i]; r.explains(event, node.Pod) {
				found = append(found, *event)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b corev1.Event) int { return eventTime(&b).Compare(eventTime(&a)) })
	warnings := make([]observed.Warning, 0, len(found))
	for i := range found {
		warnings = append(warnings, observed.Warning{Words: found[i].Reason + ": " + found[i].Message, At: eventTime(&found[i])})
	}
	return warnings
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
