// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

// parallelAgents is how many agents are asked at a time.
const parallelAgents = 32

// observe looks at the agents of all NodeTunings, and asks those of this one
// what they found.
func (r *run) observe(
	ctx context.Context, set *appsv1.DaemonSet, settings *v1alpha1.NodeTuningSettings,
) (*policy.TuningObservation, error) {
	pods := &corev1.PodList{}
	if err := r.client.List(ctx, pods, client.InNamespace(r.settings.Namespace),
		client.MatchingLabels{resources.LabelName: resources.NameTuningAgent}); err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	observation := &policy.TuningObservation{
		Tuning:    r.tuning,
		Namespace: r.settings.Namespace,
		Wanted:    int(set.Status.DesiredNumberScheduled),
		Settling: set.Status.ObservedGeneration < set.Generation ||
			set.Status.UpdatedNumberScheduled < set.Status.DesiredNumberScheduled,
	}
	holders := map[string]string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[resources.LabelNodeTuning] == r.tuning.Name {
			observation.Agents = append(observation.Agents, policy.Agent{Machine: machineOf(pod), Pod: pod})
		} else if pod.Spec.NodeName != "" {
			holders[pod.Spec.NodeName] = pod.Labels[resources.LabelNodeTuning]
		}
	}
	slices.SortFunc(observation.Agents, func(a, b policy.Agent) int { return cmp.Compare(a.Machine, b.Machine) })
	for i := range observation.Agents {
		if agent := &observation.Agents[i]; agent.Pod.Spec.NodeName == "" {
			agent.Rival = holders[agent.Machine]
		}
	}
	return observation, r.askAgents(ctx, observation.Agents, settings)
}

// machineOf is the machine that a pod of a DaemonSet is on, or is for.
func machineOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil ||
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// askAgents asks every agent that runs for its report. One that does not answer
// is an observation, no error.
func (r *run) askAgents(ctx context.Context, agents []policy.Agent, settings *v1alpha1.NodeTuningSettings) error {
	encoded, err := tuning.Encode(settings)
	if err != nil {
		return err
	}
	hash := tuning.Hash(encoded)
	var group errgroup.Group
	group.SetLimit(parallelAgents)
	for i := range agents {
		agent := &agents[i]
		if agent.Pod.Status.HostIP == "" || agent.Pod.Status.Phase != corev1.PodRunning || agent.Pod.DeletionTimestamp != nil {
			continue
		}
		group.Go(func() error {
			report, err := r.agents.Report(ctx, agent.Pod.Status.HostIP)
			// Whoever answers at the address may be an earlier agent, or another
			// NodeTuning's.
			if err == nil && report.Tuning == r.tuning.Name && report.Machine == agent.Machine && report.SettingsHash == hash {
				agent.Report = report
			}
			return nil
		})
	}
	return group.Wait()
}
