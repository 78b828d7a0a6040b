// SPDX-License-Identifier: Apache-2.0

package nodetuning_test

import (
	"errors"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/test/guide"
)

// The guide shows every trouble of a NodeTuning, and no others.
func TestGuideShowsEveryMessage(t *testing.T) {
	t.Parallel()
	shown := guide.Read(t, filepath.Join("..", "..", ".."), v1alpha1.KindNodeTuning)
	for _, trouble := range troubles() {
		shown.Shows(t, trouble.reason, trouble.condition)
	}
	shown.NothingElse(t)
}

// trouble is a condition that is not True, and how it comes about.
type trouble struct {
	reason    string
	condition metav1.Condition
}

// ofTuning is a trouble of a NodeTuning of three machines.
func ofTuning(
	reason string, find func(*tuningpolicy.Observation) metav1.Condition, change func(*tuningpolicy.Observation),
) trouble {
	observation := tuned(3)
	change(observation)
	return trouble{reason, find(observation)}
}

// troubles are what the guide says of NodeTunings.
func troubles() []trouble {
	crowded := tuned(tuningpolicy.MaxMachines + 1)
	last := &crowded.Agents[tuningpolicy.MaxMachines]
	last.Report, last.NoRoom = nil, true
	return []trouble{
		{v1alpha1.ReasonAgentsMissing, tuningpolicy.Ready(crowded)},
		{v1alpha1.ReasonApplyFailed, tuningpolicy.ApplyFailed(errors.New(
			`apply DaemonSet of agents: namespaces "shardyard-node-tuning" not found`))},
		ofTuning(v1alpha1.ReasonNoMachines, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			observation.Agents, observation.Wanted = nil, 0
		}),
		ofTuning(v1alpha1.ReasonSettingsUnavailable, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			for i := range observation.Agents {
				say(&observation.Agents[i], "interfaceQdisc", v1alpha1.SettingUnavailable, noDiscipline)
			}
			say(&observation.Agents[1], "rmemMaxBytes", v1alpha1.SettingUnavailable, readOnly)
		}),
		ofTuning(v1alpha1.ReasonMachineTaken, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			agent := &observation.Agents[1]
			agent.Report, agent.Rival = nil, "other"
		}),
		ofTuning(v1alpha1.ReasonAgentsMissing, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			silent(&observation.Agents[1], corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ErrImagePull", Message: `failed to pull and unpack image "ghcr.io/shardyard/operator:nope": not found`,
			}}, nil)
		}),
		ofTuning(v1alpha1.ReasonAgentsMissing, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			observation.Agents = observation.Agents[:2]
		}),
		ofTuning(v1alpha1.ReasonAgentsMissing, tuningpolicy.Ready, func(observation *tuningpolicy.Observation) {
			agent := &observation.Agents[0]
			agent.Report = nil
			agent.Pod.Spec.NodeName = ""
			agent.Pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: noPort,
			}}}
		}),
		ofTuning(v1alpha1.ReasonRestoring, restored, func(observation *tuningpolicy.Observation) {
			leave(observation)
			observation.Leaving[2].Report.Held = 1
			observation.Leaving[2].Report.Trouble = "put net.core.rmem_max back to 212992: " + readOnly
		}),
		ofTuning(v1alpha1.ReasonRestoring, restored, func(observation *tuningpolicy.Observation) {
			leave(observation)
			observation.Leaving[0].Report = nil
		}),
		{v1alpha1.ReasonTuningDisabled, tuningpolicy.Disabled(0)},
		{v1alpha1.ReasonTuningDisabled, tuningpolicy.Disabled(3)},
		ofTuning(v1alpha1.ReasonDrifted, tuningpolicy.Steady, func(observation *tuningpolicy.Observation) {
			say(&observation.Agents[0], "tcpMTUProbing", v1alpha1.SettingDrifted, changed)
			say(&observation.Agents[2], "tcpMTUProbing", v1alpha1.SettingDrifted, changed)
		}),
		ofTuning(v1alpha1.ReasonNoAnswer, tuningpolicy.Steady, func(observation *tuningpolicy.Observation) {
			for i := range observation.Agents {
				observation.Agents[i].Report = nil
			}
		}),
	}
}
