// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

// handOver is for how long a machine counts as it was read back last while its
// agent is replaced. Agents that end leave it so.
const handOver = time.Minute

// noteMachines notes in the status which machines have settings, or may have, and
// forgets those that are gone. It comes before any of their agents is asked: until
// then, an agent on a new machine changes nothing. One on a machine that the status
// has no room for is not asked.
func (r *run) noteMachines(ctx context.Context, observation *tuningpolicy.Observation) error {
	noted := map[string]v1alpha1.TunedMachine{}
	for _, machine := range r.status.Machines {
		noted[machine.Name] = machine
	}
	var known, further []*tuningpolicy.Agent
	for leaving, agents := range map[bool][]tuningpolicy.Agent{false: observation.Agents, true: observation.Leaving} {
		for i := range agents {
			agent := &agents[i]
			// The first agent of a machine that has no place yet has changed nothing.
			if _, found := noted[agent.Machine]; found {
				known = append(known, agent)
			} else if leaving || runsOn(agent.Pod) {
				further = append(further, agent)
			}
		}
	}
	byName := func(a, b *tuningpolicy.Agent) int { return strings.Compare(a.Machine, b.Machine) }
	slices.SortFunc(further, byName)
	room := min(len(further), max(tuningpolicy.MaxMachines-len(known), 0))
	for _, agent := range further[room:] {
		agent.NoRoom = true
	}
	known = append(known, further[:room]...)
	slices.SortFunc(known, byName)
	r.status.Machines = make([]v1alpha1.TunedMachine, 0, len(known))
	for _, agent := range known {
		r.status.Machines = append(r.status.Machines, v1alpha1.TunedMachine{
			Name: agent.Machine, SettingsHash: noted[agent.Machine].SettingsHash,
		})
	}
	if equality.Semantic.DeepEqual(r.tuning.Status.Machines, r.status.Machines) {
		return nil
	}
	return r.writeStatus(ctx)
}

// recall says of machines whose agents give no answer whether they read back all
// settings not long ago. What is known of it from before this program began
// counts from when it began.
func (r *run) recall(agents []tuningpolicy.Agent, settingsHash string) {
	known := r.readBack[r.tuning.Name]
	readBack := map[string]time.Time{}
	tuned := policy.TunedMachines(r.tuning, settingsHash)
	for i := range agents {
		agent := &agents[i]
		switch last, found := known[agent.Machine]; {
		case agent.Report != nil && agent.Report.Done():
			readBack[agent.Machine] = r.now()
		case agent.Report != nil, !tuned[agent.Machine]:
		case !found:
			readBack[agent.Machine], agent.Recent = r.now(), true
		default:
			readBack[agent.Machine], agent.Recent = last, r.now().Sub(last) < handOver
		}
	}
	r.readBack[r.tuning.Name] = readBack
}

// putBack has agents without settings put the old values back on the machines
// that are to have them, and takes these agents away once all have. Those that are let go of
// before are no longer noted when this comes again.
func (r *run) putBack(ctx context.Context, observation *tuningpolicy.Observation) error {
	name := resources.RestoringName(r.tuning.Name)
	if len(observation.Leaving) > 0 {
		machines := make([]string, 0, len(observation.Leaving))
		for i := range observation.Leaving {
			machines = append(machines, observation.Leaving[i].Machine)
		}
		wanted := resources.NewRestoringDaemonSet(r.tuning, r.settings.Namespace, r.settings.Image, machines)
		if _, err := r.applyDaemonSet(ctx, wanted); err != nil {
			return err
		}
		r.askAgents(ctx, observation.Leaving, tuning.Hash(tuning.NoSettings))
		if done, _ := tuningpolicy.Restored(observation); !done {
			return nil
		}
	} else if err := r.client.Get(ctx, client.ObjectKey{Namespace: r.settings.Namespace, Name: name}, &appsv1.DaemonSet{}); err != nil {
		return client.IgnoreNotFound(err)
	}
	return r.deleteDaemonSets(ctx, name)
}
