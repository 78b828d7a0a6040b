// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/test/networks"
)

const (
	imageOld  = "ghcr.io/shardyard/shardnode:0.1.0"
	imageNext = "ghcr.io/shardyard/shardnode:0.2.0"
	imageNow  = "ghcr.io/shardyard/shardnode:0.3.0"
)

func TestChooseImage(t *testing.T) {
	t.Parallel()
	// What an operator that offers imageNow makes of networks.
	for name, test := range map[string]struct {
		spec   string
		status v1alpha1.ShardNetworkStatus
		image  string
		kept   string
		check  bool
	}{
		"new": {image: imageNow, kept: imageNow},
		"new, of an image of its own": {
			spec: imageNext, image: imageNext,
		},
		"of another release": {
			status: v1alpha1.ShardNetworkStatus{DefaultNodeImage: imageOld, NodeImage: imageOld, Formats: ptr.To[int32](1)},
			image:  imageOld, kept: imageOld,
		},
		"of a release that kept no default": {
			status: v1alpha1.ShardNetworkStatus{NodeImage: imageOld, ObservedGeneration: 3},
			image:  imageOld, kept: imageOld,
		},
		"whose spec no longer names one": {
			status: v1alpha1.ShardNetworkStatus{NodeImage: imageOld, ObservedGeneration: 2},
			image:  imageNow, kept: imageNow,
		},
		"whose nodes never ran": {
			spec:   imageNext,
			status: v1alpha1.ShardNetworkStatus{NodeImage: imageOld},
			image:  imageNext,
		},
		"with an image that nobody has asked": {
			spec:   imageNext,
			status: v1alpha1.ShardNetworkStatus{NodeImage: imageOld, Formats: ptr.To[int32](1)},
			image:  imageOld, check: true,
		},
		"with another image that was asked": {
			spec: imageNext,
			status: v1alpha1.ShardNetworkStatus{
				NodeImage: imageOld, Formats: ptr.To[int32](1),
				ImageCheck: &v1alpha1.ImageCheck{Image: imageNow, Formats: ptr.To[int32](1)},
			},
			image: imageOld, check: true,
		},
		"with an image of the same formats": {
			spec: imageNext,
			status: v1alpha1.ShardNetworkStatus{
				NodeImage: imageOld, Formats: ptr.To[int32](1),
				ImageCheck: &v1alpha1.ImageCheck{Image: imageNext, Formats: ptr.To[int32](1)},
			},
			image: imageNext,
		},
		"with an image that does not say": {
			spec: imageNext,
			status: v1alpha1.ShardNetworkStatus{
				NodeImage: imageOld, Formats: ptr.To[int32](1), ImageCheck: &v1alpha1.ImageCheck{Image: imageNext},
			},
			image: imageNext,
		},
		"with an image of other formats": {
			spec: imageNext,
			status: v1alpha1.ShardNetworkStatus{
				NodeImage: imageOld, Formats: ptr.To[int32](1),
				ImageCheck: &v1alpha1.ImageCheck{Image: imageNext, Formats: ptr.To[int32](2)},
			},
			image: imageOld,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Status: test.status}
			network.Spec.Node.Image = test.spec
			choice := policy.ChooseImage(network, imageNow)
			if choice.Image != test.image || choice.Default != test.kept || choice.Check != test.check {
				t.Errorf("the choice is %+v, want %s, by default %q, to be checked %v", choice, test.image, test.kept, test.check)
			}
		})
	}
}

// What changes together with an image waits for it, unless nodes are being replaced
// already.
func TestAwaiting(t *testing.T) {
	t.Parallel()
	stable := &v1alpha1.NodeRevision{Node: v1alpha1.NodeSpec{Image: imageOld, Log: v1alpha1.NodeLog{Level: v1alpha1.LogLevelInfo}}}
	for name, test := range map[string]struct {
		check  bool
		status v1alpha1.ShardNetworkStatus
		want   v1alpha1.LogLevel
	}{
		"the image was asked":          {status: v1alpha1.ShardNetworkStatus{StableRevision: stable}, want: v1alpha1.LogLevelDebug},
		"the image is being asked":     {check: true, status: v1alpha1.ShardNetworkStatus{StableRevision: stable}, want: v1alpha1.LogLevelInfo},
		"the nodes never ran the same": {check: true, want: v1alpha1.LogLevelDebug},
		"some nodes have been replaced": {
			check:  true,
			status: v1alpha1.ShardNetworkStatus{StableRevision: stable, Update: &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateWaves}},
			want:   v1alpha1.LogLevelDebug,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := &v1alpha1.ShardNetwork{Status: test.status}
			network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
			got := policy.Awaiting(network, &policy.ImageChoice{Check: test.check}).Spec.Node.Log.Level
			if got != test.want {
				t.Errorf("nodes are to log from %s on, want %s", got, test.want)
			}
		})
	}
}

func TestFormatsOf(t *testing.T) {
	t.Parallel()
	ended := func(code int32, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}},
		}}}
	}
	evicted := ended(137, "")
	evicted.Reason = "Evicted"
	for name, test := range map[string]struct {
		status corev1.PodStatus
		want   int32
		done   bool
	}{
		"says":              {ended(0, "2\n"), 2, true},
		"does not know":     {ended(2, "error: unrecognized subcommand 'formats'"), -1, true},
		"says nothing":      {ended(0, ""), -1, true},
		"says nonsense":     {ended(0, "-1"), -1, true},
		"is on its way":     {corev1.PodStatus{Phase: corev1.PodPending}, -1, false},
		"was taken away":    {evicted, -1, false},
		"was never let in":  {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfpods"}, -1, false},
		"has not ended yet": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{}}}, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			formats, done := policy.FormatsOf(&corev1.Pod{Status: test.status})
			if done != test.done || ptr.Deref(formats, -1) != test.want {
				t.Errorf("the formats are %d, done %v; want %d, %v", ptr.Deref(formats, -1), done, test.want, test.done)
			}
		})
	}
}

// ofImage is a trouble of a network that runs and is to run another image.
func ofImage(reason string, found *v1alpha1.ImageCheck, change func(*policy.Probe)) trouble {
	network := &v1alpha1.ShardNetwork{Status: v1alpha1.ShardNetworkStatus{
		NodeImage: imageOld, Formats: ptr.To[int32](1), ImageCheck: found,
	}}
	network.Spec.Node.Image = imageNext
	choice := policy.ChooseImage(network, imageNow)
	probe := &policy.Probe{Name: "quickstart-formats-3f2c", Pod: &corev1.Pod{}}
	change(probe)
	return trouble{reason, policy.ImageCompatible(&choice, probe)}
}

func troublesOfImages() []trouble {
	return []trouble{
		ofImage(v1alpha1.ReasonFormatsDiffer, &v1alpha1.ImageCheck{Image: imageNext, Formats: ptr.To[int32](2)}, func(*policy.Probe) {}),
		ofImage(v1alpha1.ReasonImageUnchecked, nil, func(*policy.Probe) {}),
		ofImage(v1alpha1.ReasonImageUnchecked, nil, func(probe *policy.Probe) {
			probe.Pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: networks.NoMachine,
			}}
		}),
		ofImage(v1alpha1.ReasonImageUnchecked, nil, func(probe *policy.Probe) {
			probe.Pod, probe.Failed = nil, errors.New(`pods "quickstart-formats-3f2c" is forbidden: exceeded quota: team`)
		}),
		ofImage(v1alpha1.ReasonImageUnavailable, nil, func(probe *policy.Probe) {
			probe.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: networks.NoImage},
			}}}
		}),
	}
}

func TestImageInUse(t *testing.T) {
	t.Parallel()
	network := &v1alpha1.ShardNetwork{}
	network.Spec.Node.Image = imageNext
	choice := policy.ChooseImage(network, imageNow)
	networks.CheckCondition(t, policy.ImageCompatible(&choice, &policy.Probe{}), metav1.ConditionTrue, v1alpha1.ReasonImageInUse,
		"nodes are made with "+imageNext)
	network.Status = v1alpha1.ShardNetworkStatus{
		NodeImage: imageOld, Formats: ptr.To[int32](1), ImageCheck: &v1alpha1.ImageCheck{Image: imageNext},
	}
	choice = policy.ChooseImage(network, imageNow)
	networks.CheckCondition(t, policy.ImageCompatible(&choice, &policy.Probe{}), metav1.ConditionTrue, v1alpha1.ReasonImageInUse,
		"nodes are made with "+imageNext+", which does not say its formats")
}
