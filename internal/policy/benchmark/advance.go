// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// networkPatience is how long the network of a run may take to become ready, on
// machines that are still to come.
const networkPatience = 30 * time.Minute

// judgePatience is how long a pod that makes a result may run. For a machine that has the
// memory it waits for ever: nothing runs meanwhile that costs anything, and what is recorded
// may have taken days.
const judgePatience = time.Hour

// Task is what there is to do next for a benchmark.
type Task string

const (
	// TaskWait says that something is under way.
	TaskWait Task = "Wait"
	// TaskMakeNetwork makes the network of the run, or has one that is named carry the
	// load of the run instead of its own.
	TaskMakeNetwork Task = "MakeNetwork"
	// TaskMakeRecorder makes the pod that records the run.
	TaskMakeRecorder Task = "MakeRecorder"
	// TaskBeginLoad gives the network its load.
	TaskBeginLoad Task = "BeginLoad"
	// TaskRemove removes the network, and the recorder once nobody needs it. One that is
	// named has its own load again.
	TaskRemove Task = "Remove"
	// TaskMakeJudge makes the pod that makes the result.
	TaskMakeJudge Task = "MakeJudge"
	// TaskRemoveJudge removes that pod, which was taken from its machine.
	TaskRemoveJudge Task = "RemoveJudge"
	// TaskMakeUploader makes the pod that puts the result into its bucket.
	TaskMakeUploader Task = "MakeUploader"
	// TaskRemoveUploader removes that pod, which nobody waits for any more.
	TaskRemoveUploader Task = "RemoveUploader"
)

// Observation is a benchmark and what there is of it in the cluster.
type Observation struct {
	Benchmark *v1alpha1.Benchmark
	// Runs are all that are planned, as far as that tells: number, variant and
	// repetition.
	Runs []v1alpha1.BenchmarkRunStatus
	// Network is the network of the benchmark's name, or the one that it names; nil when
	// there is none.
	Network *v1alpha1.ShardNetwork
	// Claimant is another benchmark whose load a network that is named carries, and
	// Faults are what is wrong with it on purpose; empty when there are none.
	Claimant string
	Faults   []string
	// Misfit is why a network that is named cannot carry the load; empty when it can.
	Misfit string
	// NodeImageIDs are what the name of the node image came to on the machines of the
	// network's nodes, each once, as far as they say.
	NodeImageIDs []string
	// Recorder is the pod of the present run, Judge the one that makes the result, and
	// Uploader the one that puts it into its bucket; nil when there are none.
	Recorder, Judge, Uploader *corev1.Pod
	// Recorded is what the recorder said, and Judged what the judge said, once they
	// have ended; nil when they said nothing that can be understood.
	Recorded *Recorded
	Judged   *Judged
	// UploadedTo is where the uploader said that the result is, once it has ended; empty
	// when it said nothing that can be understood.
	UploadedTo string
	Now        time.Time
}

// Recorded is what a recorder says of its run.
type Recorded struct {
	// Fault is why the run does not count; empty if it does.
	Fault string
	// From and To bound the time that was measured.
	From, To metav1.MicroTime
	// TransfersPerSecond is nil when it is not known.
	TransfersPerSecond *int64
}

// Judged is what the judge says of all runs.
type Judged struct {
	// Phase is one of those that are for good.
	Phase   v1alpha1.BenchmarkPhase
	Words   []string
	Figures []v1alpha1.BenchmarkFigureStatus
	// TransfersPerSecond is nil when it is not known.
	TransfersPerSecond *int64
}

// Ended says whether a benchmark is in a phase that is for good.
func Ended(phase v1alpha1.BenchmarkPhase) bool {
	return slices.Contains([]v1alpha1.BenchmarkPhase{
		v1alpha1.BenchmarkSucceeded, v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkRegressed,
	}, phase)
}

// PresentRun is the index of the run that is made; false when there is none.
func PresentRun(status *v1alpha1.BenchmarkStatus) (int, bool) {
	last := len(status.Runs) - 1
	if last < 0 || status.Runs[last].Phase == v1alpha1.RunRecorded || status.Runs[last].Phase == v1alpha1.RunBroken {
		return 0, false
	}
	return last, true
}

// Advance takes a benchmark one step on: what there is to do now, and the
// status that says what is so once that is done. Each step follows from the status
// and the objects alone. What begins a measurement comes after the note of what
// measures it, so whoever comes in between does not do it a second time.
func Advance(o *Observation, status *v1alpha1.BenchmarkStatus) Task {
	if present, ok := PresentRun(status); ok {
		status.Phase = v1alpha1.BenchmarkRunning
		return advanceRun(o, status, &status.Runs[present])
	}
	begun := len(status.Runs)
	switch {
	case begun > 0 && status.Runs[begun-1].Phase == v1alpha1.RunBroken:
		run := &status.Runs[begun-1]
		end(o, status, v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken, fmt.Sprintf("%s does not count: %s", RunName(run), run.Fault))
		return TaskWait
	case begun < len(o.Runs):
		return beginRun(o, status, o.Runs[begun])
	default:
		return conclude(o, status)
	}
}

// beginRun notes that a run begins, once nothing is in its way.
func beginRun(o *Observation, status *v1alpha1.BenchmarkStatus, run v1alpha1.BenchmarkRunStatus) Task {
	status.Phase = v1alpha1.BenchmarkRunning
	if o.named() {
		if !beginNamed(o, status, &run) {
			return TaskWait
		}
	} else if o.Network != nil {
		underWay(o, status, fmt.Sprintf("%s waits until the network of an earlier run is gone", RunName(&run)))
		return TaskRemove
	}
	run.Phase = v1alpha1.RunPreparing
	now := metav1.NewTime(o.Now)
	run.StartTime = &now
	status.Runs = append(status.Runs, run)
	underWay(o, status, RunName(&run)+" begins")
	return TaskWait
}

// advanceRun takes a run one step on.
func advanceRun(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	switch run.Phase {
	case v1alpha1.RunPreparing:
		if o.named() {
			return prepareNamed(o, status, run)
		}
		return prepareRun(o, status, run)
	case v1alpha1.RunRecording:
		return recordRun(o, status, run)
	default:
		return removeRun(o, status, run)
	}
}

// prepareRun has the network of a run made, until it is ready.
func prepareRun(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	network := o.Network
	if network == nil {
		underWay(o, status, RunName(run)+": its network is made")
		return TaskMakeNetwork
	}
	if !resources.RunOf(network, run.Number) {
		underWay(o, status, RunName(run)+" waits until the network of an earlier run is gone")
		return TaskRemove
	}
	if network.DeletionTimestamp != nil {
		return breakRun(o, status, run, "somebody deletes its network")
	}
	if stalled := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionStalled); stalled != nil &&
		stalled.Status == metav1.ConditionTrue {
		return breakRun(o, status, run, fmt.Sprintf("its network cannot become ready: %s: %s", stalled.Reason, wording.Quote(stalled.Message)))
	}
	words := runNetworkWaits(network)
	if words == "" {
		run.NetworkUID = string(network.UID)
		if status.NodeImage == "" && !namesImage(o.Benchmark, run) {
			status.NodeImage = network.Status.NodeImage
		}
		run.Phase = v1alpha1.RunRecording
		underWay(o, status, RunName(run)+": its network is ready")
		return TaskWait
	}
	if run.StartTime != nil && o.Now.Sub(run.StartTime.Time) > networkPatience {
		return breakRun(o, status, run, fmt.Sprintf("its network was not ready within %s: %s", networkPatience, words))
	}
	underWay(o, status, fmt.Sprintf("%s: its network is not ready yet: %s", RunName(run), words))
	return TaskWait
}

// runNetworkWaits says what keeps the network of a run from being measured; empty when
// nothing does.
func runNetworkWaits(network *v1alpha1.ShardNetwork) string {
	ready := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return "nothing is said of it"
	case ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != network.Generation:
		return fmt.Sprintf("%s: %s", ready.Reason, wording.Quote(ready.Message))
	}
	if words := policy.Drained(network); words != "" {
		return "its machines are drained: " + words
	}
	return ""
}

// recordRun has the run recorded under its load.
func recordRun(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	recorder := o.Recorder
	if run.RecorderUID != "" && recorder != nil && string(recorder.UID) == run.RecorderUID && pods.Ended(recorder) {
		return endRecording(o, status, run)
	}
	if lost := runLost(o, run); lost != "" {
		return breakRun(o, status, run, lost)
	}
	if run.RecorderUID == "" {
		return noteRecorder(o, status, run)
	}
	if recorder == nil || string(recorder.UID) != run.RecorderUID || recorder.DeletionTimestamp != nil {
		return breakRun(o, status, run, "the pod of its recorder was deleted")
	}
	if recorder.Status.Phase != corev1.PodRunning {
		if o.Now.Sub(recorder.CreationTimestamp.Time) > pods.Patience {
			return breakRun(o, status, run, fmt.Sprintf("its recorder did not start within %s: %s", pods.Patience, pods.Trouble(recorder)))
		}
		underWay(o, status, fmt.Sprintf("%s: its recorder starts: %s", RunName(run), pods.Trouble(recorder)))
		return TaskWait
	}
	if ended := loaderEnded(recorder); ended != "" {
		return breakRun(o, status, run, "its loader ended in the middle: "+ended)
	}
	underWay(o, status, RunName(run)+": its network carries the load and is recorded")
	// A recorder that steers the load, or has users send it, begins it by itself.
	if o.Network.Spec.Load == nil && !resources.LoadBegunByRecorder(o.Benchmark) {
		return TaskBeginLoad
	}
	return TaskWait
}

// noteRecorder has the recorder of a run made, and notes it.
func noteRecorder(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	if len(o.NodeImageIDs) > 1 {
		return breakRun(o, status, run, "the name of its node image means several: its nodes run "+strings.Join(o.NodeImageIDs, " and "))
	}
	if o.Recorder == nil {
		underWay(o, status, RunName(run)+": its recorder is made")
		return TaskMakeRecorder
	}
	// Only now may the load begin: a recorder that is not noted has recorded nothing, and
	// may be made again. One that steers the load refuses one that it finds.
	run.RecorderUID = string(o.Recorder.UID)
	underWay(o, status, RunName(run)+": its recorder starts")
	return TaskWait
}

// endRecording takes what the recorder says at its end.
func endRecording(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	switch recorded := o.Recorded; {
	case o.Recorder.Status.Phase == corev1.PodFailed:
		return breakRun(o, status, run, "its recorder ended: "+pods.Trouble(o.Recorder))
	case recorded == nil:
		return breakRun(o, status, run, "its recorder ended and did not say what it recorded")
	case recorded.Fault != "":
		return breakRun(o, status, run, recorded.Fault)
	case letGoMeanwhile(o.Network, recorded) != "":
		return breakRun(o, status, run, letGoMeanwhile(o.Network, recorded))
	default:
		run.MeasuredFrom, run.MeasuredTo = &recorded.From, &recorded.To
		run.TransfersPerSecond = recorded.TransfersPerSecond
		run.Phase = v1alpha1.RunRemoving
		underWay(o, status, RunName(run)+" is recorded")
		// What is removed before that is noted would be missed.
		return TaskWait
	}
}

// removeRun waits until nothing is left of a run that could disturb the next.
func removeRun(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	left := leftOfNetwork(o, run)
	if left == "" && o.Recorder != nil && (run.Fault == "" || !pods.Ended(o.Recorder)) {
		left = "its recorder is removed"
	}
	if left != "" {
		words := fmt.Sprintf("%s is recorded, and %s", RunName(run), left)
		if run.Fault != "" {
			words = fmt.Sprintf("%s does not count, and %s: %s", RunName(run), left, run.Fault)
		}
		underWay(o, status, words)
		return TaskRemove
	}
	run.Phase = v1alpha1.RunRecorded
	if run.Fault != "" {
		run.Phase = v1alpha1.RunBroken
	}
	underWay(o, status, RunName(run)+" has ended")
	return TaskWait
}

// breakRun notes why a run does not count. It is not made again. What is left of it
// is removed once that is noted.
func breakRun(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus, fault string) Task {
	run.Fault = wording.Shorten(fault)
	run.Phase = v1alpha1.RunRemoving
	underWay(o, status, fmt.Sprintf("%s does not count: %s", RunName(run), run.Fault))
	return TaskWait
}

// conclude has the result made, and put where it is to be.
func conclude(o *Observation, status *v1alpha1.BenchmarkStatus) Task {
	status.Phase = v1alpha1.BenchmarkJudging
	if o.Judge == nil && status.UploadStartTime != nil {
		// The result is on its volume. What the judge said of it went with the judge, and is
		// said again once nobody reads there what is written again for that.
		if task, done := upload(o, status); !done || task != TaskWait {
			return task
		}
	}
	return judge(o, status)
}

// judge has the result made of all records.
func judge(o *Observation, status *v1alpha1.BenchmarkStatus) Task {
	noResult := func(words string) Task {
		end(o, status, v1alpha1.BenchmarkFailed, v1alpha1.ReasonNoResult, "all runs are recorded, and there is no result: "+words)
		return TaskWait
	}
	const underWayWords = "all runs are recorded, and the result is made"
	switch pod := o.Judge; {
	case pod == nil:
		// One that ended while nobody looked may be gone. Whoever makes the result again makes
		// the same.
		underWay(o, status, underWayWords)
		return TaskMakeJudge
	case takenAway(pod):
		underWay(o, status, underWayWords+" again once the pod is gone that was taken from its machine")
		if pod.DeletionTimestamp != nil {
			return TaskWait
		}
		return TaskRemoveJudge
	case pod.Status.Phase == corev1.PodFailed:
		return noResult(pods.Trouble(pod))
	case pods.Ended(pod) && o.Judged == nil:
		return noResult("the pod that makes it did not say what it came to")
	case pods.Ended(pod) && o.Benchmark.Spec.Upload != nil:
		task, done := upload(o, status)
		if done {
			endJudged(o, status)
		}
		return task
	case pods.Ended(pod):
		endJudged(o, status)
		return TaskWait
	case o.Now.Sub(pods.RunsSince(pod, o.Now)) > judgePatience:
		return noResult(fmt.Sprintf("the pod that makes it did not end within %s: %s", judgePatience, pods.Trouble(pod)))
	default:
		underWay(o, status, underWayWords+": "+pods.Trouble(pod))
		return TaskWait
	}
}

// endJudged notes what the benchmark came to.
func endJudged(o *Observation, status *v1alpha1.BenchmarkStatus) {
	judged := o.Judged
	status.Figures, status.Verdict, status.TransfersPerSecond = judged.Figures, judged.Words, judged.TransfersPerSecond
	status.Artifact = &v1alpha1.BenchmarkArtifact{
		ClaimName: resources.RecordsName(o.Benchmark.Name), Path: resources.ArtifactPath,
	}
	reason := v1alpha1.ReasonSucceeded
	switch judged.Phase {
	case v1alpha1.BenchmarkFailed:
		reason = v1alpha1.ReasonCriterionMissed
	case v1alpha1.BenchmarkRegressed:
		reason = v1alpha1.ReasonRegressed
	}
	words := "the runs came to their end"
	if len(judged.Words) > 0 {
		words = judged.Words[0]
	}
	phase, reason, words := withoutUpload(status, judged.Phase, reason, words)
	end(o, status, phase, reason, words)
}

// runLost says why the network of a run is no longer what it was when it was ready, or
// no longer carries the load of the run; empty when neither is so.
func runLost(o *Observation, run *v1alpha1.BenchmarkRunStatus) string {
	lost := networkLost(o.Network, run)
	if o.named() {
		lost = claimLost(o, run)
	}
	switch {
	case lost != "":
		return lost
	case o.named() && (!o.claimed() || !resources.RunOf(o.Network, run.Number)):
		return "somebody gave its network another load: its labels no longer say that it carries that of the run"
	default:
		return policy.LetGo(o.Network)
	}
}

// letGoMeanwhile says that nodes of the network of a run may be evicted since some time
// before the end of what was measured; empty when none may.
func letGoMeanwhile(network *v1alpha1.ShardNetwork, recorded *Recorded) string {
	if network == nil {
		return ""
	}
	if kept := policy.NotKept(network); kept == nil || kept.LastTransitionTime.After(recorded.To.Time) {
		return ""
	}
	return policy.LetGo(network)
}

// networkLost says why the network of a run is no longer what it was when it was
// ready; empty when it is. A network that is overloaded still is: nodes that do not
// keep up, and shards without chunks, are what is measured, and the recorder says
// when a chain stands still.
func networkLost(network *v1alpha1.ShardNetwork, run *v1alpha1.BenchmarkRunStatus) string {
	switch {
	case network == nil:
		return "its network was deleted"
	case string(network.UID) != run.NetworkUID:
		return "its network was deleted, and there is another of its name"
	case network.DeletionTimestamp != nil:
		return "somebody deletes its network"
	}
	// What costs too much gets no load from the operator, and none from a recorder.
	if budget := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionWithinBudget); budget != nil &&
		budget.Status == metav1.ConditionFalse {
		return fmt.Sprintf("its network is not within its budget: %s: %s", budget.Reason, wording.Quote(budget.Message))
	}
	ready := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionNodesReady)
	if ready == nil || ready.Status != metav1.ConditionFalse ||
		ready.Reason == v1alpha1.ReasonNodesNotReady || ready.Reason == v1alpha1.ReasonNoAnswer {
		return ""
	}
	return fmt.Sprintf("its network lost nodes: %s: %s", ready.Reason, wording.Quote(ready.Message))
}

// namesImage says whether the variant of a run names an image of its own.
func namesImage(benchmark *v1alpha1.Benchmark, run *v1alpha1.BenchmarkRunStatus) bool {
	return slices.ContainsFunc(benchmark.Spec.Variants, func(variant v1alpha1.BenchmarkVariant) bool {
		return variant.Name == run.Variant && variant.Image != ""
	})
}

// RunName is a run as sentences name it.
func RunName(run *v1alpha1.BenchmarkRunStatus) string {
	if run.Variant == "" {
		return fmt.Sprintf("run %d", run.Repetition)
	}
	return fmt.Sprintf("run %d of %s", run.Repetition, run.Variant)
}

// loaderEnded says how the loader beside a recorder ended, which should do so after it;
// empty when it did not. That it was started again says that it did.
func loaderEnded(recorder *corev1.Pod) string {
	for i := range recorder.Status.InitContainerStatuses {
		container := &recorder.Status.InitContainerStatuses[i]
		if container.Name != resources.ContainerLoader || container.RestartCount == 0 {
			continue
		}
		if ended := container.LastTerminationState.Terminated; ended != nil {
			return fmt.Sprintf("exit code %d, %s: %s", ended.ExitCode, ended.Reason, wording.Quote(wording.LastWords(ended.Message)))
		}
		return "it was started again"
	}
	return ""
}
