// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

func TestTroublePauses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*observed.Network)
		// paused is a part of the message; none where the update goes on.
		paused string
	}{
		"none":                {func(*observed.Network) {}, ""},
		"a node keeps ending": {func(o *observed.Network) { networks.KeepsEnding(&o.Nodes[0]) }, "ends with exit code 2"},
		"a node ended":        {func(o *observed.Network) { networks.Ended(&o.Nodes[0]) }, ""},
		"one of before":       {func(o *observed.Network) { o.Nodes[3].Outdated = true; networks.KeepsEnding(&o.Nodes[3]) }, ""},
		"a node is late": {
			func(o *observed.Network) { networks.IsLate(&o.Nodes[0]) },
			"quickstart-s0-p0 was replaced and is not back since 2026-11-21T11:49:59Z",
		},
		"a node is in time": {func(o *observed.Network) { networks.IsLate(&o.Nodes[0]); networks.Back(&o.Nodes[0], 600*time.Second) }, ""},
		"another deadline":  {func(o *observed.Network) { networks.IsLate(&o.Nodes[0]); o.Network.Spec.Update.DeadlineSeconds = 700 }, ""},
		"it was late before": {func(o *observed.Network) {
			networks.IsLate(&o.Nodes[0])
			o.Network.Status.Update.StartTime = metav1.NewTime(networks.Now)
		}, ""},
		"a node has no complete copy": {
			func(o *observed.Network) { networks.Incomplete(&o.Nodes[0]) },
			"quickstart-s0-p0 was replaced and has no complete copy of the shard: " + networks.Lacking +
				"; the update got no further since 2026-11-21T11:49:00Z",
		},
		"a node has none for a while": {func(o *observed.Network) {
			networks.Incomplete(&o.Nodes[0])
			o.Network.Status.Update.ProgressTime = metav1.NewTime(networks.Now.Add(-10 * time.Minute))
		}, ""},
		"the update got on": {func(o *observed.Network) {
			networks.Incomplete(&o.Nodes[0])
			o.Network.Status.Update.NodesUpdated = ptr.To[int32](0)
		}, ""},
		"one of before has none": {func(o *observed.Network) { networks.Incomplete(&o.Nodes[1]) }, ""},
		"its pod never starts": {func(o *observed.Network) {
			networks.Pending(&o.Nodes[0])
			o.Nodes[0].Pod.CreationTimestamp = metav1.NewTime(networks.Now.Add(-11 * time.Minute))
		}, "is not back since 2026-11-21T11:49:00Z: quickstart-s0-p0 is starting"},
		"its pod was refused before": {func(o *observed.Network) {
			networks.NoPod(&o.Nodes[0], networks.Quota)
			o.Nodes[0].Warnings[0].At = o.Network.Status.Update.StartTime.Add(-time.Second)
		}, ""},
		"its pod is refused": {
			func(o *observed.Network) { networks.NoPod(&o.Nodes[0], networks.PodSecurity) },
			"the cluster refuses the pod of quickstart-s0-p0",
		},
		"its pod is being made":   {func(o *observed.Network) { networks.NoPod(&o.Nodes[0]) }, ""},
		"a silent shard":          {func(o *observed.Network) { networks.Silence(o, 1179) }, "shard 1 had no chunk since height 1179"},
		"a quiet shard":           {func(o *observed.Network) { networks.Silence(o, 1180) }, ""},
		"one silent before":       {func(o *observed.Network) { networks.Silence(o, 979) }, ""},
		"one silent at the start": {func(o *observed.Network) { networks.Silence(o, 980) }, "shard 1 had no chunk since height 980"},
		"the chain halts": {
			func(o *observed.Network) { networks.FinalizedAt(o, "2026-11-21T11:49:59Z") },
			"no block was finalised since 2026-11-21T11:49:59Z (height 1200)",
		},
		"its disk is gone": {func(o *observed.Network) {
			networks.Lose(o, 0)
			o.Nodes[0].Pod.CreationTimestamp = metav1.NewTime(networks.Now.Add(-11 * time.Minute))
		}, ""},
		"the chain hesitates": {func(o *observed.Network) { networks.FinalizedAt(o, "2026-11-21T11:50:00Z") }, ""},
		"it halted before":    {func(o *observed.Network) { networks.FinalizedAt(o, "2026-11-21T11:29:59Z") }, ""},
		"nobody takes part on a chain that halted before": {func(o *observed.Network) {
			networks.All(o, networks.IsLate)
			networks.FinalizedAt(o, "2026-11-21T11:29:59Z")
		}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			networks.Begun(observation)
			test.change(observation)
			rollout := replacing.NewRollout(observation)
			paused := rollout.Updated.Reason == v1alpha1.ReasonUpdatePaused
			if paused != (test.paused != "") || !strings.Contains(rollout.Updated.Message, test.paused) {
				t.Fatalf("the update is %s: %s; want it paused: %q", rollout.Updated.Reason, rollout.Updated.Message, test.paused)
			}
			if !paused {
				return
			}
			if rollout.Replace != nil || rollout.Update.Phase != v1alpha1.UpdatePaused || rollout.Update.Trouble == "" {
				t.Errorf("the paused update is %+v and replaces %v", rollout.Update, rollout.Replace)
			}
		})
	}
}

// What is paused goes on when the trouble is over, or when it is told to.
func TestPausedUpdatesGoOn(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Begun(observation)
	networks.Silence(observation, 1100)
	paused := replacing.NewRollout(observation)
	observation.Network.Status.Update = paused.Update

	networks.Silence(observation, 1199)
	if over := replacing.NewRollout(observation); !slices.Equal(over.Replace, []int{1}) || over.Update.Trouble != "" {
		t.Errorf("the trouble is over, and %v are replaced: %+v", over.Replace, over.Update)
	}

	networks.Silence(observation, 1100)
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
	if told := replacing.NewRollout(observation); !slices.Equal(told.Replace, []int{1}) || told.Updated.Reason != v1alpha1.ReasonUpdating {
		t.Errorf("told to continue, %v are replaced: %s", told.Replace, told.Updated.Message)
	}

	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroublePause
	networks.Outdate(observation)
	networks.Known(t, observation)
	observation.Network.Status.Update.Revision = "another"
	if changed := replacing.NewRollout(observation); !slices.Equal(changed.Replace, []int{0}) ||
		!changed.Update.StartTime.Time.Equal(networks.Now) {
		t.Errorf("with another spec, %v are replaced: %+v", changed.Replace, changed.Update)
	}
}

// An update that is to go on in spite of its canary replaces the others.
func TestContinueNeedsNoCanary(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 8, 2)
	networks.Outdate(observation, 0)
	networks.KeepsEnding(&observation.Nodes[0])
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
	if rollout := replacing.NewRollout(observation); !slices.Equal(rollout.Replace, []int{2}) {
		t.Errorf("%v are replaced: %s", rollout.Replace, rollout.Updated.Message)
	}
}

// toRollBack is an update whose first node keeps ending, and that is to be rolled
// back then.
func toRollBack(t *testing.T) *observed.Network {
	t.Helper()
	observation := networks.Healthy(t, 2, 2)
	networks.Outdate(observation, 0)
	networks.Known(t, observation)
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	networks.KeepsEnding(&observation.Nodes[0])
	return observation
}

func TestRollBackIsDecided(t *testing.T) {
	t.Parallel()
	observation := toRollBack(t)
	decided := replacing.NewRollout(observation)
	if decided.Replace != nil || decided.Update.Phase != v1alpha1.UpdateRollingBack || decided.Update.Revision != observation.Wanted.Name {
		t.Fatalf("the decision is %+v, %+v", decided, decided.Update)
	}
	observation.Network.Status.Update = decided.Update

	effective := replacing.Effective(observation.Network, observation.Wanted)
	if level, image := effective.Spec.Node.Log.Level, effective.Spec.Node.Image; level != v1alpha1.LogLevelInfo || image != "shardnode:1" {
		t.Errorf("nodes are to log %s and run %s, want what they did before", level, image)
	}
	if observation.Network.Spec.Node.Log.Level != v1alpha1.LogLevelDebug {
		t.Error("the spec of the user was changed")
	}
}

func TestRollBack(t *testing.T) {
	t.Parallel()
	observation := toRollBack(t)
	decided := replacing.NewRollout(observation)
	observation.Network.Status.Update = decided.Update

	// Now what the others run is right.
	networks.Outdate(observation, 1, 2, 3)
	back := replacing.NewRollout(observation)
	if !slices.Equal(back.Replace, []int{0}) || back.Update.Trouble != decided.Update.Trouble {
		t.Errorf("%v are put back: %+v", back.Replace, back.Update)
	}
	networks.CheckCondition(t, back.Updated, metav1.ConditionFalse, v1alpha1.ReasonRolledBack,
		"the change of spec.node.image, spec.node.log.level was rolled back: quickstart-s0-p0 ends with exit code 2")

	networks.Outdate(observation, 0, 1, 2, 3)
	if coming := replacing.NewRollout(observation); coming.Update.Phase != v1alpha1.UpdateRollingBack {
		t.Errorf("the phase is %s while the node is not back", coming.Update.Phase)
	}
	observation.Nodes[0] = networks.Healthy(t, 2, 2).Nodes[0]
	over := replacing.NewRollout(observation)
	if over.Complete || over.Update.Phase != v1alpha1.UpdateRolledBack || over.Updated.Status != metav1.ConditionFalse {
		t.Errorf("it ends with %+v, %+v", over.Update, over.Updated)
	}
}

// What was refused is refused until the spec is another one.
func TestRollBackEndsWithAnotherSpec(t *testing.T) {
	t.Parallel()
	observation := toRollBack(t)
	observation.Network.Status.Update = replacing.NewRollout(observation).Update
	observation.Nodes[0] = networks.Healthy(t, 2, 2).Nodes[0]
	networks.Outdate(observation)
	observation.Network.Spec.Node.Log.Level = v1alpha1.LogLevelWarn
	another, err := replacing.RevisionOf(observation.Network, "shardnode:1")
	if err != nil {
		t.Fatal(err)
	}
	observation.Wanted = another
	if effective := replacing.Effective(observation.Network, another); effective.Spec.Node.Log.Level != v1alpha1.LogLevelWarn {
		t.Errorf("another spec is not what nodes are to run: %s", effective.Spec.Node.Log.Level)
	}
	if again := replacing.NewRollout(observation); !slices.Equal(again.Replace, []int{0}) || again.Updated.Reason != v1alpha1.ReasonUpdating {
		t.Errorf("with another spec, %v are replaced: %s", again.Replace, again.Updated.Message)
	}
}

// The last node is as good a reason to roll back as the first.
func TestRollBackOfTheLastNode(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Begun(observation)
	networks.Outdate(observation, 0, 1, 2, 3)
	networks.Known(t, observation)
	networks.KeepsEnding(&observation.Nodes[3])
	paused := replacing.NewRollout(observation)
	if paused.Updated.Status != metav1.ConditionTrue || paused.Update == nil || paused.Complete {
		t.Errorf("nothing is left to pause, but it is %+v, %+v", paused.Updated, paused.Update)
	}
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	if rollout := replacing.NewRollout(observation); rollout.Update == nil || rollout.Update.Phase != v1alpha1.UpdateRollingBack {
		t.Errorf("it is not rolled back: %+v", rollout.Update)
	}
}

// Where nobody knows what ran before, or that was the same, there is nothing to
// roll back to.
func TestNothingToRollBackTo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*observed.Network){
		"not known": func(o *observed.Network) { o.Network.Status.StableRevision = nil },
		"the same":  func(o *observed.Network) { o.Wanted = o.Network.Status.StableRevision },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			networks.Outdate(observation, 0)
			networks.Known(t, observation)
			change(observation)
			observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
			networks.KeepsEnding(&observation.Nodes[0])
			if rollout := replacing.NewRollout(observation); rollout.Updated.Reason != v1alpha1.ReasonUpdatePaused {
				t.Errorf("it is %s: %s", rollout.Updated.Reason, rollout.Updated.Message)
			}
		})
	}
}
