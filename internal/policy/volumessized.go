// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// VolumesSized says whether all volumes have the size of the spec, how many do, and
// what keeps the others. awaited is what the whole network waits for before any of
// them may grow; empty when it waits for nothing.
func VolumesSized(volumes []Volume, now time.Time, awaited string) metav1.Condition {
	found := countVolumes(volumes, now)
	said := progress(volumes, found.sized)
	goesOn := ". The network goes on as it is"
	switch {
	case found.sized == len(volumes):
		return sizedCondition(metav1.ConditionTrue, v1alpha1.ReasonAllVolumesSized, said)
	case awaited != "" && found.small:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonObjectsPending, said+"; the others wait for "+awaited)
	case len(found.troubles) > 0:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonExpansionFailed,
			said+"; "+firstAndMore(found.troubles)+found.unread()+goesOn)
	case len(found.barred) > 0:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonExpansionNotAllowed, said+"; "+found.barriers()+goesOn)
	case found.failed != nil:
		return sizedCondition(metav1.ConditionUnknown, v1alpha1.ReasonVolumesUnknown, found.failed.failure())
	case len(found.awaitStart) > 0:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonFileSystemPending, fmt.Sprintf(
			"%s; the file systems of these claims grow when their nodes start again, which the condition Updated tells of: %s",
			said, wording.List(found.awaitStart)))
	case len(found.growing) > 0:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonVolumesGrowing,
			said+"; these claims grow: "+wording.List(found.growing)+found.unread())
	case len(found.pending) > 0:
		return sizedCondition(metav1.ConditionFalse, v1alpha1.ReasonVolumePending,
			said+"; these claims have no volume yet: "+wording.List(found.pending))
	default:
		return sizedCondition(metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable, fmt.Sprintf(
			"%s; nothing is known of %s in clusters that cannot be used now: see the condition ClustersAvailable",
			said, wording.Count(found.unobserved, "volume")))
	}
}

// volumeCensus are volumes by what is known of them, the claims named as messages do.
type volumeCensus struct {
	sized, unobserved int
	// small is true when a claim asks for less than the spec says.
	small bool
	// barred are the volumes that may not grow, unreadable those of which it is not
	// known whether they may.
	barred, unreadable []*Volume
	// troubles are what keeps volumes from growing.
	troubles                     []string
	awaitStart, growing, pending []string
	// failed is the first whose cluster does not let anybody look.
	failed *Volume
}

func countVolumes(volumes []Volume, now time.Time) *volumeCensus {
	found := &volumeCensus{}
	for i := range volumes {
		v := &volumes[i]
		found.small = found.small || v.small()
		if v.small() && v.Refused == nil && v.barrier() != notBarred {
			found.barred = append(found.barred, v)
			continue
		}
		if v.unreadable() {
			found.unreadable = append(found.unreadable, v)
		}
		found.count(v, now)
	}
	return found
}

// count counts a volume that nothing bars.
func (c *volumeCensus) count(v *Volume, now time.Time) {
	switch trouble := v.trouble(); {
	case v.Unobserved:
		c.unobserved++
	case v.Failed != nil:
		if c.failed == nil {
			c.failed = v
		}
	case v.has():
		c.sized++
	case trouble != "":
		c.troubles = append(c.troubles, trouble)
	case v.gone() || len(v.Claim.Status.Capacity) == 0:
		c.pending = append(c.pending, v.name())
	case v.fileSystemPending(now) != nil:
		c.awaitStart = append(c.awaitStart, v.name())
	default:
		c.growing = append(c.growing, v.name())
	}
}

// unreadable says whether it is not known if the class of a volume lets it grow.
func (v *Volume) unreadable() bool {
	return v.known() && !v.gone() && v.ClassFailed != nil && !apierrors.IsNotFound(v.ClassFailed) && !v.has()
}

// progress says how many volumes have their size.
func progress(volumes []Volume, sized int) string {
	size := volumes[0].Wanted
	what := size.String()
	if slices.ContainsFunc(volumes, func(v Volume) bool { return v.Wanted.Cmp(size) != 0 }) {
		what = "the size that the spec says"
	}
	if sized == len(volumes) {
		return fmt.Sprintf("all %d volumes have %s", sized, what)
	}
	return fmt.Sprintf("%d of %d volumes have %s", sized, len(volumes), what)
}

// barriers say which claims may not grow, by what keeps them.
func (c *volumeCensus) barriers() string {
	type bar struct {
		barrier barrier
		class   string
	}
	var order []bar
	claims := map[bar][]string{}
	for _, v := range c.barred {
		key := bar{v.barrier(), v.class()}
		if claims[key] == nil {
			order = append(order, key)
		}
		claims[key] = append(claims[key], v.name())
	}
	words := make([]string, 0, len(order))
	for _, key := range order {
		names := wording.List(claims[key])
		switch key.barrier {
		case noClass:
			words = append(words, fmt.Sprintf("no storage class lets these claims grow, which have none: %s", names))
		case classGone:
			words = append(words, fmt.Sprintf("there is no storage class %s any more, which would have to let these claims grow: %s",
				key.class, names))
		default:
			words = append(words, fmt.Sprintf("the storage class %s does not let these claims grow: %s. "+
				"If its driver can, set its allowVolumeExpansion to true", key.class, names))
		}
	}
	return strings.Join(words, "; ")
}

// unread says, behind other words, that it is tried without knowing whether the
// storage class lets it.
func (c *volumeCensus) unread() string {
	if len(c.unreadable) == 0 {
		return ""
	}
	first := c.unreadable[0]
	return fmt.Sprintf(" (whether the storage class %s lets it is not known: %s)", first.class(), wording.Quote(first.ClassFailed.Error()))
}

// failure says whose claims cannot be looked at, and what to do about it.
func (v *Volume) failure() string {
	if v.Validator.Cluster == "" {
		return fmt.Sprintf("the volume claims in the operator's own cluster cannot be looked at: %s. Give the operator the role of its chart",
			wording.Quote(v.Failed.Error()))
	}
	return fmt.Sprintf("the volume claims in the cluster %s cannot be looked at: %s. Join the cluster again with shardyard join",
		v.Validator.Cluster, wording.Quote(v.Failed.Error()))
}

// firstAndMore is the first of some words, and how many there are like it.
func firstAndMore(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return fmt.Sprintf("%s (and %d more like it)", words[0], len(words)-1)
}

func sizedCondition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return condition.New(v1alpha1.ConditionVolumesSized, status, reason, message)
}
