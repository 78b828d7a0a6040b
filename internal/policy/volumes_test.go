// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/networks"
)

// volume is a change of a volume that has 10Gi, of a network whose spec says 20Gi
// since then.
type volume = func(*policy.Volume)

// volumes are those of a network of four, whose class lets them grow.
func volumes(t *testing.T, changes ...volume) []policy.Volume {
	t.Helper()
	var found []policy.Volume
	for _, validator := range networks.Healthy(t, 2, 2).Plan.Nodes {
		had := resource.MustParse("10Gi")
		found = append(found, policy.Volume{
			Validator: validator,
			Wanted:    resource.MustParse("20Gi"),
			Template:  &had,
			Claim: &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: resources.ClaimName(validator.Name)},
				Spec: corev1.PersistentVolumeClaimSpec{
					StorageClassName: ptr.To("fast"),
					Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: had}},
				},
				Status: corev1.PersistentVolumeClaimStatus{
					Phase: corev1.ClaimBound, Capacity: corev1.ResourceList{corev1.ResourceStorage: had},
				},
			},
			Class: &storagev1.StorageClass{AllowVolumeExpansion: ptr.To(true)},
		})
	}
	for i, change := range changes {
		change(&found[i])
	}
	return found
}

// every has all four volumes changed.
func every(change volume) []volume { return []volume{change, change, change, change} }

// asIs leaves a volume as it is.
func asIs(*policy.Volume) {}

// asked is a volume whose claim asks for what the spec says.
func asked(v *policy.Volume) {
	v.Claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: v.Wanted}
}

// grown is a volume that has it.
func grown(v *policy.Volume) {
	asked(v)
	v.Claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: v.Wanted}
}

// renewedSet is a volume that has it, and whose StatefulSet makes no smaller ones.
func renewedSet(v *policy.Volume) {
	grown(v)
	v.Template = &v.Wanted
}

// withoutSet is one whose StatefulSet is not there.
func withoutSet(v *policy.Volume) {
	asked(v)
	v.Template = nil
}

func barredBy(allows *bool) volume {
	return func(v *policy.Volume) { v.Class.AllowVolumeExpansion = allows }
}

// barred is a volume whose class does not say that it may grow.
var barred = barredBy(nil)

func classless(v *policy.Volume) { v.Claim.Spec.StorageClassName, v.Class = nil, nil }

var classes = schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}

func classGone(v *policy.Volume) {
	v.Class, v.ClassFailed = nil, apierrors.NewNotFound(classes, "fast")
}

func classHidden(v *policy.Volume) {
	v.Class, v.ClassFailed = nil, errors.New(`storageclasses.storage.k8s.io "fast" is forbidden: `+
		`User "system:serviceaccount:shardyard-system:shardyard" cannot get resource "storageclasses" in API group "storage.k8s.io" `+
		`at the cluster scope`)
}

func overQuota(v *policy.Volume) {
	v.Refused = errors.New(`persistentvolumeclaims "data-quickstart-s0-p0-0" is forbidden: exceeded quota: team, ` +
		`requested: requests.storage=10Gi, used: requests.storage=40Gi, limited: requests.storage=40Gi`)
}

// says is a volume whose claim has a condition, for some time.
func says(kind corev1.PersistentVolumeClaimConditionType, message string, since time.Duration) volume {
	return func(v *policy.Volume) {
		asked(v)
		v.Claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
			Type: kind, Status: corev1.ConditionTrue, Message: message, LastTransitionTime: metav1.NewTime(networks.Now.Add(-since)),
		}}
	}
}

// fileSystemWaits is a volume that has grown, but for its file system.
func fileSystemWaits(since time.Duration) volume {
	return says(corev1.PersistentVolumeClaimFileSystemResizePending,
		"Waiting for user to (re-)start a pod to finish file system resize of volume on node.", since)
}

var driverFails = says(corev1.PersistentVolumeClaimControllerResizeError,
	`rpc error: code = ResourceExhausted desc = quota SSD_TOTAL_GB exceeded.`, time.Minute)

func infeasible(v *policy.Volume) {
	asked(v)
	v.Claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
		corev1.ResourceStorage: corev1.PersistentVolumeClaimNodeResizeInfeasible,
	}
}

func unbound(v *policy.Volume) {
	v.Claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
}

func noClaim(v *policy.Volume) { v.Claim = nil }

func leaves(v *policy.Volume) { v.Claim.DeletionTimestamp = ptr.To(metav1.NewTime(networks.Now)) }

func unseen(v *policy.Volume) { v.Unobserved, v.Template = true, nil }

func unlistable(v *policy.Volume) {
	v.Claim, v.Failed = nil, errors.New(`persistentvolumeclaims is forbidden: User "system:serviceaccount:default:shardyard-member" `+
		`cannot list resource "persistentvolumeclaims" in API group "" in the namespace "default"`)
}

// far is a volume in a member cluster.
func far(change volume) volume {
	return func(v *policy.Volume) {
		change(v)
		v.Validator.Cluster = "us-east4"
	}
}

// Claims are asked for more, once, where nothing is known that keeps them.
func TestVolumesToGrow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		changes []volume
		want    []int
	}{
		"all small":           {nil, []int{0, 1, 2, 3}},
		"those asked already": {[]volume{asked, grown}, []int{2, 3}},
		"a claim that somebody grew": {
			[]volume{func(v *policy.Volume) { grown(v); v.Wanted = resource.MustParse("15Gi") }}, []int{1, 2, 3},
		},
		"a class that forbids it":          {every(barredBy(ptr.To(false))), nil},
		"a class that does not say":        {every(barred), nil},
		"a class that is gone":             {every(classGone), nil},
		"no class":                         {every(classless), nil},
		"a class that forbids it to some":  {[]volume{barred, asIs, barred}, []int{1, 3}},
		"a class that cannot be read":      {every(classHidden), []int{0, 1, 2, 3}},
		"one that was refused":             {[]volume{overQuota}, []int{1, 2, 3}},
		"one without a volume":             {[]volume{unbound}, []int{1, 2, 3}},
		"one that is about to be replaced": {[]volume{leaves, noClaim}, []int{2, 3}},
		"clusters that do not answer":      {[]volume{unseen, unlistable}, []int{2, 3}},
		"a volume that is larger than it was asked for": {
			[]volume{func(v *policy.Volume) { v.Claim.Status.Capacity[corev1.ResourceStorage] = v.Wanted }}, []int{1, 2, 3},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := policy.VolumesToGrow(volumes(t, test.changes...)); !slices.Equal(found, test.want) {
				t.Errorf("%v are asked for more, want %v", found, test.want)
			}
		})
	}
}

// StatefulSets follow their claims: the first alone, and nobody while one is missing.
func TestRenewal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		changes []volume
		renewed int
		want    []int
		over    bool
	}{
		"claims that ask for too little":       {nil, 0, nil, true},
		"claims that may not grow":             {every(barred), 0, nil, true},
		"all claims ask":                       {every(asked), 0, []int{0}, false},
		"one came back":                        {[]volume{renewedSet, asked, asked, asked}, 1, []int{1}, false},
		"two came back":                        {[]volume{renewedSet, renewedSet, asked, asked}, 2, []int{2, 3}, false},
		"one is missing":                       {[]volume{withoutSet, asked, asked, asked}, 1, nil, false},
		"all are renewed":                      {every(renewedSet), 4, nil, true},
		"one claim was refused":                {[]volume{overQuota, asked}, 0, []int{1}, false},
		"a claim that is about to be replaced": {[]volume{barred, leaves}, 0, []int{1}, false},
		"a claim that is gone":                 {[]volume{barred, noClaim}, 0, []int{1}, false},
		"a cluster that does not answer":       {[]volume{unseen, unseen, asked}, 0, []int{2}, false},
		"claims that nobody may look at":       {every(unlistable), 0, nil, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			renewal := policy.NewRenewal(volumes(t, test.changes...), test.renewed)
			if !slices.Equal(renewal.Now, test.want) || renewal.Over != test.over {
				t.Errorf("%v are renewed, over: %v; want %v, %v", renewal.Now, renewal.Over, test.want, test.over)
			}
		})
	}
}

// What the condition says of volumes, and whether anything is expected to change.
func TestVolumesSized(t *testing.T) {
	t.Parallel()
	const (
		yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
		claims           = "data-quickstart-s0-p0-0, data-quickstart-s0-p1-0, data-quickstart-s1-p0-0, data-quickstart-s1-p1-0"
	)
	cases := map[string]struct {
		changes []volume
		status  metav1.ConditionStatus
		reason  string
		words   string
		move    bool
	}{
		"all": {every(grown), yes, v1alpha1.ReasonAllVolumesSized, "all 4 volumes have 20Gi", false},
		"all, of several sizes": {
			append(every(grown)[:3], func(v *policy.Volume) { grown(v); v.Wanted = resource.MustParse("1Gi") }),
			yes, v1alpha1.ReasonAllVolumesSized, "all 4 volumes have the size that the spec says", false,
		},
		"some": {
			[]volume{grown, asked, asked, asked},
			no, v1alpha1.ReasonVolumesGrowing,
			"1 of 4 volumes have 20Gi; these claims grow: data-quickstart-s0-p1-0, data-quickstart-s1-p0-0, data-quickstart-s1-p1-0", true,
		},
		"the last": {
			[]volume{grown, grown, grown, asked},
			no, v1alpha1.ReasonVolumesGrowing,
			"; these claims grow: data-quickstart-s1-p1-0", true,
		},
		"not asked yet": {nil, no, v1alpha1.ReasonVolumesGrowing, "0 of 4 volumes have 20Gi", true},
		"a class that forbids it": {
			every(barred), no, v1alpha1.ReasonExpansionNotAllowed,
			"0 of 4 volumes have 20Gi; the storage class fast does not let these claims grow: " + claims + ". If its driver can, " +
				"set its allowVolumeExpansion to true. The network goes on as it is", false,
		},
		"a class that is gone": {
			every(classGone), no, v1alpha1.ReasonExpansionNotAllowed,
			"there is no storage class fast any more, which would have to let these claims grow: " + claims, false,
		},
		"no class": {
			[]volume{grown, classless, grown, barred},
			no, v1alpha1.ReasonExpansionNotAllowed,
			"which have none: data-quickstart-s0-p1-0; the storage class fast does not let these claims grow: data-quickstart-s1-p1-0", false,
		},
		"a class that cannot be read": {
			[]volume{grown, classHidden, grown, grown},
			no, v1alpha1.ReasonVolumesGrowing,
			"these claims grow: data-quickstart-s0-p1-0 (whether the storage class fast lets it is not known: storageclasses.storage.k8s.io", true,
		},
		"a quota": {
			[]volume{overQuota, grown, grown, grown},
			no, v1alpha1.ReasonExpansionFailed,
			"the claim data-quickstart-s0-p0-0 cannot be made to ask for more: persistentvolumeclaims", false,
		},
		"a quota, and others that grow": {[]volume{overQuota}, no, v1alpha1.ReasonExpansionFailed, "exceeded quota: team", true},
		"a driver": {
			every(driverFails), no, v1alpha1.ReasonExpansionFailed,
			"the claim data-quickstart-s0-p0-0 does not grow: rpc error: code = ResourceExhausted desc = quota SSD_TOTAL_GB exceeded " +
				"(and 3 more like it). The network goes on as it is", false,
		},
		"a machine": {
			[]volume{infeasible, grown, grown, grown},
			no, v1alpha1.ReasonExpansionFailed,
			"its driver says NodeResizeInfeasible", false,
		},
		"a driver that failed before": {
			every(func(v *policy.Volume) { driverFails(v); grown(v) }), yes, v1alpha1.ReasonAllVolumesSized, "", false,
		},
		"a file system that is about to grow": {
			[]volume{fileSystemWaits(time.Minute), grown, grown, grown},
			no,
			v1alpha1.ReasonVolumesGrowing, "these claims grow: data-quickstart-s0-p0-0", true,
		},
		"a file system that does not grow": {
			[]volume{fileSystemWaits(3 * time.Minute), grown, grown, grown},
			no,
			v1alpha1.ReasonFileSystemPending,
			"grow when their nodes start again, which the condition Updated tells of: data-quickstart-s0-p0-0", true,
		},
		"a claim without a volume": {
			[]volume{unbound, grown, noClaim, leaves},
			no, v1alpha1.ReasonVolumePending,
			"1 of 4 volumes have 20Gi; these claims have no volume yet: " +
				"data-quickstart-s0-p0-0, data-quickstart-s1-p0-0, data-quickstart-s1-p1-0", true,
		},
		"a member": {
			[]volume{far(barred), grown, grown, grown},
			no, v1alpha1.ReasonExpansionNotAllowed,
			"data-quickstart-s0-p0-0 in the cluster us-east4", false,
		},
		"a member that does not answer": {
			[]volume{grown, grown, far(unseen), far(unseen)},
			unknown, v1alpha1.ReasonClusterUnavailable,
			"2 of 4 volumes have 20Gi; nothing is known of 2 volumes in clusters", true,
		},
		"a member that lets nobody look": {
			[]volume{grown, grown, far(unlistable), far(unlistable)},
			unknown, v1alpha1.ReasonVolumesUnknown,
			"the volume claims in the cluster us-east4 cannot be looked at: persistentvolumeclaims is forbidden", false,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := volumes(t, test.changes...)
			networks.CheckCondition(t, policy.VolumesSized(found, networks.Now, ""), test.status, test.reason, test.words)
			if move := policy.VolumesMove(found); move != test.move {
				t.Errorf("something is expected to change: %v, want %v", move, test.move)
			}
		})
	}
}

// What is not begun yet waits with the network, and what is goes on.
func TestVolumesWaitForTheBudget(t *testing.T) {
	t.Parallel()
	networks.CheckCondition(t, policy.VolumesSized(volumes(t, grown, asked), networks.Now, policy.ForBudget),
		metav1.ConditionFalse, v1alpha1.ReasonObjectsPending, "1 of 4 volumes have 20Gi; the others wait for a cost that is within its budget")
	networks.CheckCondition(t, policy.VolumesSized(volumes(t, every(asked)...), networks.Now, policy.ForBudget),
		metav1.ConditionFalse, v1alpha1.ReasonVolumesGrowing, "0 of 4")
}

// A pod starts again once for a file system, and not before its driver had time.
func TestAwaitsStart(t *testing.T) {
	t.Parallel()
	pod := func(age time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(networks.Now.Add(-age))}}
	}
	waits := fileSystemWaits(3 * time.Minute)
	cases := map[string]struct {
		change volume
		pod    *corev1.Pod
		want   bool
	}{
		"a file system that waits":     {waits, pod(time.Hour), true},
		"one that has just begun":      {fileSystemWaits(time.Minute), pod(time.Hour), false},
		"a pod that was made since":    {waits, pod(2 * time.Minute), false},
		"no pod":                       {waits, nil, false},
		"no StatefulSet":               {func(v *policy.Volume) { waits(v); v.Template = nil }, pod(time.Hour), false},
		"a volume that has it already": {func(v *policy.Volume) { waits(v); grown(v) }, pod(time.Hour), false},
		"a driver that fails":          {driverFails, pod(time.Hour), false},
		"a cluster that is away":       {func(v *policy.Volume) { waits(v); v.Unobserved = true }, pod(time.Hour), false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := volumes(t, test.change)[0].AwaitsStart(test.pod, networks.Now); found != test.want {
				t.Errorf("it awaits a start: %v, want %v", found, test.want)
			}
		})
	}
}

// awaitStarts has nodes be outdated because of their file systems alone.
func awaitStarts(observation *observed.Network, nodes ...int) {
	for _, i := range nodes {
		observation.Nodes[i].Outdated, observation.Nodes[i].AwaitsStart = true, true
	}
}

// Nodes start again for their file systems by the rules of every update: never two
// producers of a shard, and the first alone.
func TestNodesStartAgainInTurns(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	awaitStarts(observation, 0, 1, 2, 3)
	rollout := replacing.NewRollout(observation)
	if !slices.Equal(rollout.Replace, []int{0}) {
		t.Errorf("%v start again, want the first alone", rollout.Replace)
	}
	networks.CheckCondition(t, rollout.Updated, metav1.ConditionFalse, v1alpha1.ReasonUpdating,
		"4 of 4 nodes start again for the file systems of their volumes to grow")

	observation = networks.Healthy(t, 2, 2)
	networks.Outdate(observation, 0, 1, 3)
	awaitStarts(observation, 1, 3)
	if words := replacing.NewRollout(observation).Updated.Message; !strings.HasPrefix(words,
		"1 of 4 nodes run something else than the spec says, 2 of 4 nodes start again") {
		t.Errorf("the words are %q", words)
	}
}

func troublesOfVolumes(t *testing.T) []trouble {
	t.Helper()
	of := func(reason string, changes ...volume) trouble {
		return trouble{reason, policy.VolumesSized(volumes(t, changes...), networks.Now, "")}
	}
	return []trouble{
		of(v1alpha1.ReasonVolumesGrowing, grown, asked, asked, asked),
		of(v1alpha1.ReasonVolumesGrowing, grown, grown, grown, classHidden),
		of(v1alpha1.ReasonFileSystemPending, fileSystemWaits(3*time.Minute), fileSystemWaits(3*time.Minute), grown, grown),
		of(v1alpha1.ReasonExpansionNotAllowed, every(barred)...),
		of(v1alpha1.ReasonExpansionNotAllowed, classless, grown, grown, grown),
		of(v1alpha1.ReasonExpansionNotAllowed, classGone, grown, grown, grown),
		of(v1alpha1.ReasonExpansionFailed, overQuota, grown, grown, grown),
		of(v1alpha1.ReasonExpansionFailed, grown, driverFails, driverFails, grown),
		of(v1alpha1.ReasonVolumesUnknown, far(unlistable), grown, grown, grown),
		of(v1alpha1.ReasonVolumesUnknown, unlistable, grown, grown, grown),
		of(v1alpha1.ReasonVolumePending, unbound, grown, grown, grown),
		of(v1alpha1.ReasonClusterUnavailable, far(unseen), far(unseen), grown, grown),
		{v1alpha1.ReasonObjectsPending, policy.VolumesSized(volumes(t), networks.Now, policy.ForBudget)},
		ofChain(t, v1alpha1.ReasonUpdating, func(observation *observed.Network) metav1.Condition {
			return replacing.NewRollout(observation).Updated
		}, func(observation *observed.Network) { awaitStarts(observation, 0, 1) }),
	}
}
