// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/resources"
)

// parallelAgents is how many agents are asked at a time.
const parallelAgents = 32

// agentPods are the pods of agents by the machine that they are on, or are for.
type agentPods struct {
	// own set this NodeTuning's settings, and restorers put old values back.
	own, restorers map[string]*corev1.Pod
	// rivals work for other NodeTunings.
	rivals map[string]*corev1.Pod
}

// observe finds which machines are selected, and which are to get their old
// values back.
func (r *run) observe(ctx context.Context) (*tuningpolicy.Observation, error) {
	pods, err := r.listAgents(ctx)
	if err != nil {
		return nil, err
	}
	// Which may have settings: all but those whose first agent has no place yet.
	machines := map[string]bool{}
	for machine, pod := range pods.own {
		machines[machine] = runsOn(pod)
	}
	for _, machine := range r.tuning.Status.Machines {
		machines[machine.Name] = true
	}
	observation := &tuningpolicy.Observation{Now: r.now(), Tuning: r.tuning, Namespace: r.settings.Namespace}
	for _, machine := range slices.Sorted(maps.Keys(machines)) {
		selected, exists, err := r.look(ctx, machine, pods)
		if err != nil {
			return nil, err
		}
		rival := ""
		if pod := pods.rivals[machine]; pod != nil {
			rival = pod.Labels[resources.LabelNodeTuning]
		}
		switch {
		case !exists:
			// Its kernel is gone, and what was set with it.
		case selected:
			agent := tuningpolicy.Agent{Machine: machine, Pod: pods.own[machine]}
			if !runsOn(agent.Pod) {
				agent.Rival = rival
			}
			observation.Agents = append(observation.Agents, agent)
		case machines[machine]:
			agent := tuningpolicy.Agent{Machine: machine, Pod: pods.restorers[machine], Rival: rival}
			agent.TakenOver = rival != "" && r.takenOver(ctx, pods.rivals[machine])
			observation.Leaving = append(observation.Leaving, agent)
		}
	}
	return observation, nil
}

// listAgents finds the agents of all NodeTunings.
func (r *run) listAgents(ctx context.Context) (*agentPods, error) {
	list := &corev1.PodList{}
	if err := r.client.List(ctx, list, client.InNamespace(r.settings.Namespace), client.HasLabels{resources.LabelNodeTuning}); err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	pods := &agentPods{own: map[string]*corev1.Pod{}, restorers: map[string]*corev1.Pod{}, rivals: map[string]*corev1.Pod{}}
	for i := range list.Items {
		pod := &list.Items[i]
		machine := machineOf(pod)
		switch {
		case machine == "":
		case pod.Labels[resources.LabelNodeTuning] != r.tuning.Name:
			if runsOn(pod) && pod.Labels[resources.LabelName] == resources.NameTuningAgent {
				pods.rivals[machine] = pod
			}
		case pod.Labels[resources.LabelName] == resources.NameTuningRestorer:
			prefer(pods.restorers, machine, pod)
		default:
			prefer(pods.own, machine, pod)
		}
	}
	return pods, nil
}

// prefer takes a pod that stays over one that goes.
func prefer(pods map[string]*corev1.Pod, machine string, pod *corev1.Pod) {
	if known := pods[machine]; known == nil || known.DeletionTimestamp != nil {
		pods[machine] = pod
	}
}

// runsOn says whether a pod has a machine. One that does not exist has none.
func runsOn(pod *corev1.Pod) bool { return pod != nil && pod.Spec.NodeName != "" }

// look says whether a machine that had settings, or has an agent, is selected now,
// and whether it is still there.
func (r *run) look(ctx context.Context, machine string, pods *agentPods) (selected, exists bool, err error) {
	wanted := !r.deleted() && !r.settings.RestoreOnly
	pod := pods.own[machine]
	if wanted && pod != nil && pod.DeletionTimestamp == nil {
		// The cluster lets no agent stay on a machine that is not selected.
		return true, true, nil
	}
	if restorer := pods.restorers[machine]; !wanted && runsOn(restorer) && restorer.Status.Phase == corev1.PodRunning {
		return false, true, nil
	}
	node := &corev1.Node{}
	err = r.reader.Get(ctx, client.ObjectKey{Name: machine}, node)
	if apierrors.IsNotFound(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read Node: %w", err)
	}
	return wanted && selects(r.tuning, node), true, nil
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

// askAgents asks every agent that runs for its report about some settings. One
// that does not answer is an observation, no error.
func (r *run) askAgents(ctx context.Context, agents []tuningpolicy.Agent, settingsHash string) {
	var group errgroup.Group
	group.SetLimit(parallelAgents)
	for i := range agents {
		agent := &agents[i]
		if agent.NoRoom || !answers(agent.Pod) {
			continue
		}
		group.Go(func() error {
			report, err := r.agents.Report(ctx, agent.Pod.Status.HostIP)
			// Whoever answers at the address may be an earlier agent, or another
			// NodeTuning's.
			if err == nil && report.Tuning == r.tuning.Name && report.Machine == agent.Machine && report.SettingsHash == settingsHash {
				agent.Report = report
			}
			return nil
		})
	}
	// No agent's answer is an error.
	_ = group.Wait()
}

// answers says whether there is somebody to ask.
func answers(pod *corev1.Pod) bool {
	return pod != nil && pod.Status.HostIP != "" && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// takenOver says whether a rival's agent has done what it was told: it has set
// what it sets, and put the rest back.
func (r *run) takenOver(ctx context.Context, rival *corev1.Pod) bool {
	if !answers(rival) {
		return false
	}
	report, err := r.agents.Report(ctx, rival.Status.HostIP)
	return err == nil && report.Tuning == rival.Labels[resources.LabelNodeTuning] &&
		report.Trouble == "" && len(report.Settings) > 0
}
