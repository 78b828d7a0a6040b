// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

// begun is an update that replaced its first node, and began half an hour ago at
// height 1000.
func begun(observation *policy.Observation) {
	outdate(observation, 0)
	observation.Network.Status.Update = &v1alpha1.UpdateStatus{
		StartTime: metav1.NewTime(now.Add(-30 * time.Minute)), StartHeight: ptr.To[int64](1000),
		NodesUpdated: ptr.To[int32](1), NodesBack: ptr.To[int32](1), ProgressTime: metav1.NewTime(now.Add(-11 * time.Minute)),
	}
}

// keepsEnding is a node that was started often enough.
func keepsEnding(node *policy.Node) {
	crashed(node, corev1.ContainerStateTerminated{ExitCode: 2, Message: "config.json: features: unknown field `turbo`"})
	node.Pod.Status.ContainerStatuses[0].RestartCount = 2
}

// isLate is a node that does not take part for longer than the deadline.
func isLate(node *policy.Node) {
	notReady(node, "connected to 1 peer, quorum needs 2")
	back(node, 601*time.Second)
}

// silence is a network whose shard 1 has no chunk since a height.
func silence(observation *policy.Observation, since uint64) {
	all(observation, func(node *policy.Node) { node.Status.Shards[1].ChunkHeight = since })
}

// known has a network know what its nodes ran, and what they are to run.
func known(t *testing.T, observation *policy.Observation) {
	t.Helper()
	network := observation.Network
	network.Spec.Node.Log.Level = v1alpha1.LogLevelInfo
	stable, err := policy.RevisionOf(network, "shardnode:1")
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	wanted, err := policy.RevisionOf(network, "shardnode:2")
	if err != nil {
		t.Fatal(err)
	}
	network.Status.StableRevision, observation.Wanted = stable, wanted
	if network.Status.Update != nil {
		network.Status.Update.Revision = wanted.Name
	}
}

// refuse is a network whose spec was rolled back.
func refuse(t *testing.T, observation *policy.Observation) {
	t.Helper()
	known(t, observation)
	update := observation.Network.Status.Update
	update.Phase = v1alpha1.UpdateRollingBack
	update.Trouble = "quickstart-s0-p0 ends with exit code 2: config.json: features: unknown field `turbo`. " +
		"See kubectl logs --previous quickstart-s0-p0-0"
}

func TestTroublePauses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*policy.Observation)
		// paused is a part of the message; none where the update goes on.
		paused string
	}{
		"none":                {func(*policy.Observation) {}, ""},
		"a node keeps ending": {func(o *policy.Observation) { keepsEnding(&o.Nodes[0]) }, "ends with exit code 2"},
		"a node ended":        {func(o *policy.Observation) { ended(&o.Nodes[0]) }, ""},
		"one of before":       {func(o *policy.Observation) { o.Nodes[3].Outdated = true; keepsEnding(&o.Nodes[3]) }, ""},
		"a node is late": {
			func(o *policy.Observation) { isLate(&o.Nodes[0]) },
			"quickstart-s0-p0 was replaced and is not back since 2026-11-21T11:49:59Z",
		},
		"a node is in time": {func(o *policy.Observation) { isLate(&o.Nodes[0]); back(&o.Nodes[0], 600*time.Second) }, ""},
		"another deadline":  {func(o *policy.Observation) { isLate(&o.Nodes[0]); o.Network.Spec.Update.DeadlineSeconds = 700 }, ""},
		"it was late before": {func(o *policy.Observation) {
			isLate(&o.Nodes[0])
			o.Network.Status.Update.StartTime = metav1.NewTime(now)
		}, ""},
		"a node has no complete copy": {
			func(o *policy.Observation) { incomplete(&o.Nodes[0]) },
			"quickstart-s0-p0 was replaced and has no complete copy of the shard: " + lacking +
				"; the update got no further since 2026-11-21T11:49:00Z",
		},
		"a node has none for a while": {func(o *policy.Observation) {
			incomplete(&o.Nodes[0])
			o.Network.Status.Update.ProgressTime = metav1.NewTime(now.Add(-10 * time.Minute))
		}, ""},
		"the update got on": {func(o *policy.Observation) {
			incomplete(&o.Nodes[0])
			o.Network.Status.Update.NodesUpdated = ptr.To[int32](0)
		}, ""},
		"one of before has none": {func(o *policy.Observation) { incomplete(&o.Nodes[1]) }, ""},
		"its pod never starts": {func(o *policy.Observation) {
			pending(&o.Nodes[0])
			o.Nodes[0].Pod.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute))
		}, "is not back since 2026-11-21T11:49:00Z: quickstart-s0-p0 is starting"},
		"its pod is refused": {
			func(o *policy.Observation) { noPod(&o.Nodes[0], podSecurity) },
			"the cluster refuses the pod of quickstart-s0-p0",
		},
		"its pod is being made":   {func(o *policy.Observation) { noPod(&o.Nodes[0]) }, ""},
		"a silent shard":          {func(o *policy.Observation) { silence(o, 1179) }, "shard 1 had no chunk since height 1179"},
		"a quiet shard":           {func(o *policy.Observation) { silence(o, 1180) }, ""},
		"one silent before":       {func(o *policy.Observation) { silence(o, 979) }, ""},
		"one silent at the start": {func(o *policy.Observation) { silence(o, 980) }, "shard 1 had no chunk since height 980"},
		"the chain halts": {
			func(o *policy.Observation) { finalizedAt(o, "2026-11-21T11:49:59Z") },
			"no block was finalised since 2026-11-21T11:49:59Z (height 1200)",
		},
		"its disk is gone": {func(o *policy.Observation) {
			lose(o, 0)
			o.Nodes[0].Pod.CreationTimestamp = metav1.NewTime(now.Add(-11 * time.Minute))
		}, ""},
		"the chain hesitates": {func(o *policy.Observation) { finalizedAt(o, "2026-11-21T11:50:00Z") }, ""},
		"it halted before":    {func(o *policy.Observation) { finalizedAt(o, "2026-11-21T11:29:59Z") }, ""},
		"nobody takes part on a chain that halted before": {func(o *policy.Observation) {
			all(o, isLate)
			finalizedAt(o, "2026-11-21T11:29:59Z")
		}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := healthy(t, 2, 2)
			begun(observation)
			test.change(observation)
			rollout := policy.NewRollout(observation)
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
	observation := healthy(t, 2, 2)
	begun(observation)
	silence(observation, 1100)
	paused := policy.NewRollout(observation)
	observation.Network.Status.Update = paused.Update

	silence(observation, 1199)
	if over := policy.NewRollout(observation); !slices.Equal(over.Replace, []int{1}) || over.Update.Trouble != "" {
		t.Errorf("the trouble is over, and %v are replaced: %+v", over.Replace, over.Update)
	}

	silence(observation, 1100)
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
	if told := policy.NewRollout(observation); !slices.Equal(told.Replace, []int{1}) || told.Updated.Reason != v1alpha1.ReasonUpdating {
		t.Errorf("told to continue, %v are replaced: %s", told.Replace, told.Updated.Message)
	}

	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroublePause
	outdate(observation)
	known(t, observation)
	observation.Network.Status.Update.Revision = "another"
	if changed := policy.NewRollout(observation); !slices.Equal(changed.Replace, []int{0}) ||
		!changed.Update.StartTime.Time.Equal(now) {
		t.Errorf("with another spec, %v are replaced: %+v", changed.Replace, changed.Update)
	}
}

// An update that is to go on in spite of its canary replaces the others.
func TestContinueNeedsNoCanary(t *testing.T) {
	t.Parallel()
	observation := healthy(t, 8, 2)
	outdate(observation, 0)
	keepsEnding(&observation.Nodes[0])
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleContinue
	if rollout := policy.NewRollout(observation); !slices.Equal(rollout.Replace, []int{2}) {
		t.Errorf("%v are replaced: %s", rollout.Replace, rollout.Updated.Message)
	}
}

// toRollBack is an update whose first node keeps ending, and that is to be rolled
// back then.
func toRollBack(t *testing.T) *policy.Observation {
	t.Helper()
	observation := healthy(t, 2, 2)
	outdate(observation, 0)
	known(t, observation)
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	keepsEnding(&observation.Nodes[0])
	return observation
}

func TestRollBackIsDecided(t *testing.T) {
	t.Parallel()
	observation := toRollBack(t)
	decided := policy.NewRollout(observation)
	if decided.Replace != nil || decided.Update.Phase != v1alpha1.UpdateRollingBack || decided.Update.Revision != observation.Wanted.Name {
		t.Fatalf("the decision is %+v, %+v", decided, decided.Update)
	}
	observation.Network.Status.Update = decided.Update

	effective := policy.Effective(observation.Network, observation.Wanted)
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
	decided := policy.NewRollout(observation)
	observation.Network.Status.Update = decided.Update

	// Now what the others run is right.
	outdate(observation, 1, 2, 3)
	back := policy.NewRollout(observation)
	if !slices.Equal(back.Replace, []int{0}) || back.Update.Trouble != decided.Update.Trouble {
		t.Errorf("%v are put back: %+v", back.Replace, back.Update)
	}
	checkCondition(t, back.Updated, metav1.ConditionFalse, v1alpha1.ReasonRolledBack,
		"the change of spec.node.image, spec.node.log.level was rolled back: quickstart-s0-p0 ends with exit code 2")

	outdate(observation, 0, 1, 2, 3)
	if coming := policy.NewRollout(observation); coming.Update.Phase != v1alpha1.UpdateRollingBack {
		t.Errorf("the phase is %s while the node is not back", coming.Update.Phase)
	}
	observation.Nodes[0] = healthy(t, 2, 2).Nodes[0]
	over := policy.NewRollout(observation)
	if over.Complete || over.Update.Phase != v1alpha1.UpdateRolledBack || over.Updated.Status != metav1.ConditionFalse {
		t.Errorf("it ends with %+v, %+v", over.Update, over.Updated)
	}
}

// What was refused is refused until the spec is another one.
func TestRollBackEndsWithAnotherSpec(t *testing.T) {
	t.Parallel()
	observation := toRollBack(t)
	observation.Network.Status.Update = policy.NewRollout(observation).Update
	observation.Nodes[0] = healthy(t, 2, 2).Nodes[0]
	outdate(observation)
	observation.Network.Spec.Node.Log.Level = v1alpha1.LogLevelWarn
	another, err := policy.RevisionOf(observation.Network, "shardnode:1")
	if err != nil {
		t.Fatal(err)
	}
	observation.Wanted = another
	if effective := policy.Effective(observation.Network, another); effective.Spec.Node.Log.Level != v1alpha1.LogLevelWarn {
		t.Errorf("another spec is not what nodes are to run: %s", effective.Spec.Node.Log.Level)
	}
	if again := policy.NewRollout(observation); !slices.Equal(again.Replace, []int{0}) || again.Updated.Reason != v1alpha1.ReasonUpdating {
		t.Errorf("with another spec, %v are replaced: %s", again.Replace, again.Updated.Message)
	}
}

// The last node is as good a reason to roll back as the first.
func TestRollBackOfTheLastNode(t *testing.T) {
	t.Parallel()
	observation := healthy(t, 2, 2)
	begun(observation)
	outdate(observation, 0, 1, 2, 3)
	known(t, observation)
	keepsEnding(&observation.Nodes[3])
	paused := policy.NewRollout(observation)
	if paused.Updated.Status != metav1.ConditionTrue || paused.Update == nil || paused.Complete {
		t.Errorf("nothing is left to pause, but it is %+v, %+v", paused.Updated, paused.Update)
	}
	observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
	if rollout := policy.NewRollout(observation); rollout.Update == nil || rollout.Update.Phase != v1alpha1.UpdateRollingBack {
		t.Errorf("it is not rolled back: %+v", rollout.Update)
	}
}

// Where nobody knows what ran before, or that was the same, there is nothing to
// roll back to.
func TestNothingToRollBackTo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*policy.Observation){
		"not known": func(o *policy.Observation) { o.Network.Status.StableRevision = nil },
		"the same":  func(o *policy.Observation) { o.Wanted = o.Network.Status.StableRevision },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := healthy(t, 2, 2)
			outdate(observation, 0)
			known(t, observation)
			change(observation)
			observation.Network.Spec.Update.OnTrouble = v1alpha1.OnTroubleRollBack
			keepsEnding(&observation.Nodes[0])
			if rollout := policy.NewRollout(observation); rollout.Updated.Reason != v1alpha1.ReasonUpdatePaused {
				t.Errorf("it is %s: %s", rollout.Updated.Reason, rollout.Updated.Message)
			}
		})
	}
}
