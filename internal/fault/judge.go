// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// EnoughBlocks is how many blocks a time needs to be compared with another.
const EnoughBlocks = 20

// maxNamed is how many validators a message names.
const maxNamed = 4

// shares are the measures that are counted, in the order in which they are told.
var shares = []v1alpha1.FaultMeasure{
	v1alpha1.FaultMissedTurns, v1alpha1.FaultMissedChunks, v1alpha1.FaultPartlyEndorsedChunks, v1alpha1.FaultSlowBlocks,
}

// Case is a fault and the network that it is of.
type Case struct {
	Plan *topology.Plan
	// Action is what goes wrong.
	Action v1alpha1.FaultAction
	// Scope are the validators that the fault is of.
	Scope []topology.Validator
	// Before and During are what was seen.
	Before, During *Sighting
}

// Validators is what the validators in scope show of the fault.
func (c *Case) Validators() []v1alpha1.FaultValidatorStatus {
	seen := make([]v1alpha1.FaultValidatorStatus, 0, len(c.Scope))
	for i := range c.Scope {
		name := c.Scope[i].Name
		before, during := c.Before.Answers[name], c.During.Answers[name]
		reached := v1alpha1.FaultNotReached
		switch {
		case isTold(c.Action):
			// A process that took the place of another knows of no fault.
			if 2*during.Impaired > during.Answered {
				reached = v1alpha1.FaultImpaired
			}
		case IsByzantine(c.Action):
			// The ordinary program is silent for a moment as well when it is started anew.
			if 2*during.Impaired > during.Answered {
				reached = v1alpha1.FaultImpaired
			} else if 2*during.Answered < during.Asked {
				reached = v1alpha1.FaultUnreachable
			}
		case during.Restarted:
			reached = v1alpha1.FaultRestarted
		case risen(before.unanswered(), during.unanswered()):
			reached = v1alpha1.FaultUnreachable
		}
		seen = append(seen, v1alpha1.FaultValidatorStatus{
			Name: name, Reached: reached,
			Asked: int32(during.Asked), Answered: int32(during.Answered), Impaired: int32(during.Impaired),
		})
	}
	return seen
}

// unreached says what a validator showed instead of the fault.
func (c *Case) unreached(validator *v1alpha1.FaultValidatorStatus) string {
	if isTold(c.Action) {
		return fmt.Sprintf("%s told of a fault of its %s %d of %d times",
			validator.Name, PartOf(c.Action), validator.Impaired, validator.Answered)
	}
	if IsByzantine(c.Action) {
		return fmt.Sprintf("%s told of another version than before %d of %d times", validator.Name, validator.Impaired, validator.Answered)
	}
	before := c.Before.Answers[validator.Name]
	return fmt.Sprintf("%s answered %d of %d times, before %d of %d",
		validator.Name, validator.Answered, validator.Asked, before.Answered, before.Asked)
}

func (a Answers) unanswered() share {
	return share{count: a.Asked - a.Answered, of: a.Asked}
}

// Felt are the measures by which a time is worse than before.
func (c *Case) Felt(now *Sighting) []v1alpha1.FaultMeasure {
	var felt []v1alpha1.FaultMeasure
	if fewer(c.Before.MadeBlocks(), now.MadeBlocks(), c.Before.Duration, now.Duration) {
		felt = append(felt, v1alpha1.FaultFewerBlocks)
	}
	before, measured := c.measured(c.Before), c.measured(now)
	for _, measure := range shares {
		if risen(before[measure], measured[measure]) {
			felt = append(felt, measure)
		}
	}
	return felt
}

func (c *Case) measured(sighting *Sighting) map[v1alpha1.FaultMeasure]share {
	return sighting.measured(c.Scope, c.Plan, c.Before.medianMs())
}

// Window is what was measured of a time.
func (c *Case) Window(name v1alpha1.FaultWindowName, sighting *Sighting) v1alpha1.FaultWindow {
	window := v1alpha1.FaultWindow{
		Name: name, DurationMilliseconds: sighting.Duration.Milliseconds(),
		Blocks: int32(sighting.MadeBlocks()), BlockTimeMilliseconds: sighting.meanMs(),
		LongestWaitMilliseconds: sighting.LongestWait.Milliseconds(),
	}
	measured := c.measured(sighting)
	for _, measure := range shares {
		if of := measured[measure].of; of > 0 {
			window.Shares = append(window.Shares, v1alpha1.FaultShare{
				Measure: measure, Count: int32(measured[measure].count), Of: int32(of),
			})
		}
	}
	return window
}

// Effective says whether the fault had an effect. Its time is left to whoever
// observed it.
func (c *Case) Effective() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha1.ConditionEffective, Status: metav1.ConditionFalse}
	var unreached []string
	for _, validator := range c.Validators() {
		if validator.Reached == v1alpha1.FaultNotReached {
			unreached = append(unreached, c.unreached(&validator))
		}
	}
	felt := c.Felt(c.During)
	switch {
	case len(unreached) > 0:
		condition.Reason = v1alpha1.ReasonNotReached
		condition.Message = fmt.Sprintf("%d of %d validators do not show the fault: %s",
			len(unreached), len(c.Scope), named(unreached))
	case len(felt) > 0:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonFelt
		condition.Message = "the chain felt the fault: " + c.words(felt, c.During)
	case c.During.MadeBlocks() < EnoughBlocks:
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonTooFewBlocks
		condition.Message = fmt.Sprintf("the chain made %d blocks while the fault lasted, which are too few to tell whether it felt it: "+
			"%d are enough", c.During.MadeBlocks(), EnoughBlocks)
	default:
		condition.Reason = v1alpha1.ReasonNotFelt
		condition.Message = fmt.Sprintf("the validators show the fault, and the chain was no worse than before in the %d blocks of it",
			c.During.MadeBlocks()) + c.unless(c.During)
	}
	return condition
}

// unless follows what says that the chain is not seen to be worse. Blocks that are
// fewer by a quarter are told of, although chance may be all that there is to it.
func (c *Case) unless(now *Sighting) string {
	before := c.Before
	if !muchFewer(before.MadeBlocks(), now.MadeBlocks(), before.Duration, now.Duration) {
		return ""
	}
	return fmt.Sprintf(" by more than chance brings about; but blocks are fewer by a quarter or more, %s: "+
		"with a longer baselineSeconds, chance explains less", c.words([]v1alpha1.FaultMeasure{v1alpha1.FaultFewerBlocks}, now))
}

// Recovered says whether everything was as before, from what was seen of the network
// once all validators in scope took part again. Missing are those that did not,
// and why; then nothing was seen.
func (c *Case) Recovered(after *Sighting, missing []string) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha1.ConditionRecovered, Status: metav1.ConditionFalse}
	if len(missing) > 0 {
		condition.Reason = v1alpha1.ReasonValidatorsMissing
		condition.Message = fmt.Sprintf("%d of %d validators do not take part: %s", len(missing), len(c.Scope), named(missing))
		return condition
	}
	switch felt := c.Felt(after); {
	case len(felt) > 0:
		condition.Reason = v1alpha1.ReasonStillWorse
		condition.Message = "all of the validators take part, and the chain is worse than before the fault: " + c.words(felt, after)
	case after.MadeBlocks() < EnoughBlocks:
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha1.ReasonTooFewBlocks
		condition.Message = fmt.Sprintf("all of the validators take part, and the chain made %d blocks since, "+
			"which are too few to compare: %d are enough", after.MadeBlocks(), EnoughBlocks)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonAsBefore
		condition.Message = fmt.Sprintf("all of the validators take part, and the chain is no worse than before the fault in %d blocks",
			after.MadeBlocks()) + c.unless(after)
	}
	return condition
}

// words tell measures of a time, beside those of before.
func (c *Case) words(felt []v1alpha1.FaultMeasure, now *Sighting) string {
	before, measured := c.measured(c.Before), c.measured(now)
	words := make([]string, 0, len(felt))
	for _, measure := range felt {
		if measure == v1alpha1.FaultFewerBlocks {
			words = append(words, fmt.Sprintf("%s %d in %.1f s, before %d in %.1f s", measure,
				now.MadeBlocks(), now.Duration.Seconds(), c.Before.MadeBlocks(), c.Before.Duration.Seconds()))
			continue
		}
		words = append(words, fmt.Sprintf("%s %d of %d, before %d of %d", measure,
			measured[measure].count, measured[measure].of, before[measure].count, before[measure].of))
	}
	return strings.Join(words, "; ")
}

// named lists some of many.
func named(all []string) string {
	if len(all) <= maxNamed {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(all[:maxNamed]), ", "), len(all)-maxNamed)
}
