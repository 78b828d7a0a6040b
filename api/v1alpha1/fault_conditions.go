// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Conditions of a Fault.
const (
	// ConditionEffective is True if the fault reached every validator that it is of and
	// the chain felt it, and Unknown if that cannot be told.
	ConditionEffective = "Effective"
	// ConditionRecovered is True if all of these validators took part again after the
	// fault, and the chain was no worse than before it.
	ConditionRecovered = "Recovered"
)

// Reasons of ConditionEffective.
const (
	// ReasonFelt: the chain felt the fault.
	ReasonFelt = "Felt"
	// ReasonNotReached: a validator that the fault is of does not show it.
	ReasonNotReached = "NotReached"
	// ReasonNotFelt: the fault reached the validators, and the chain was as before.
	ReasonNotFelt = "NotFelt"
	// ReasonTooFewBlocks: the chain was not seen to feel the fault, in too few blocks
	// to tell.
	ReasonTooFewBlocks = "TooFewBlocks"
)

// Reasons of ConditionRecovered.
const (
	// ReasonAsBefore: all of the validators take part, and the chain is no worse than
	// before the fault.
	ReasonAsBefore = "AsBefore"
	// ReasonValidatorsMissing: a validator that the fault was of does not take part.
	ReasonValidatorsMissing = "ValidatorsMissing"
	// ReasonStillWorse: the validators take part, and the chain is worse than before
	// the fault.
	ReasonStillWorse = "StillWorse"
)
