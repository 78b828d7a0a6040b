// SPDX-License-Identifier: Apache-2.0

package faulting

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// maxOutcomeBytes is the longest termination message that a cluster keeps.
	maxOutcomeBytes = 4096
	// maxMessageBytes leaves room for all windows beside two conditions.
	maxMessageBytes = 700
)

// outcome is what came of a fault as a pod says it at its end.
type outcome struct {
	v1alpha1.FaultStatus `json:",inline"`

	// Shown are validators, as many as there is room for: name, reach, and how often it
	// was asked, answered and told of the fault.
	Shown []string `json:"shown"`
}

// EncodeOutcome writes what came of a fault as a termination message, with as many of
// its validators as there is room for.
func EncodeOutcome(status *v1alpha1.FaultStatus) (string, error) {
	said := outcome{FaultStatus: *status.DeepCopy(), Shown: []string{}}
	said.Validators, said.ValidatorsTotal = nil, int32(len(status.Validators))
	for i := range said.Conditions {
		said.Conditions[i].Message = cut(said.Conditions[i].Message, maxMessageBytes)
	}
	content, err := said.encode()
	for i := range status.Validators {
		if err != nil {
			break
		}
		seen := &status.Validators[i]
		said.Shown = append(said.Shown, fmt.Sprintf("%s %s %d %d %d", seen.Name, seen.Reached, seen.Asked, seen.Answered, seen.Impaired))
		longer, tooLong := said.encode()
		if tooLong != nil {
			break
		}
		content = longer
	}
	return content, err
}

func (o *outcome) encode() (string, error) {
	content, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode what came of the fault: %w", err)
	}
	if len(content) > maxOutcomeBytes {
		return "", fmt.Errorf("what came of the fault has %d bytes, and may have %d", len(content), maxOutcomeBytes)
	}
	return string(content), nil
}

// DecodeOutcome reads a termination message.
func DecodeOutcome(message string) (*v1alpha1.FaultStatus, error) {
	decoder := json.NewDecoder(strings.NewReader(message))
	decoder.DisallowUnknownFields()
	var said outcome
	if err := decoder.Decode(&said); err != nil {
		return nil, fmt.Errorf("decode what came of the fault: %w", err)
	}
	status := &said.FaultStatus
	for _, line := range said.Shown {
		var seen v1alpha1.FaultValidatorStatus
		if _, err := fmt.Sscanf(line, "%s %s %d %d %d", &seen.Name, &seen.Reached, &seen.Asked, &seen.Answered, &seen.Impaired); err != nil {
			return nil, fmt.Errorf("decode what validators showed: %w", err)
		}
		status.Validators = append(status.Validators, seen)
	}
	if status.StartTime == nil || status.EndTime == nil ||
		!says(status, v1alpha1.ConditionEffective) || !says(status, v1alpha1.ConditionRecovered) {
		return nil, errors.New("what came of the fault does not say when it was, or whether it had an effect, or whether it passed")
	}
	return status, nil
}

// says is true when there is a condition.
func says(status *v1alpha1.FaultStatus, kind string) bool {
	return slices.ContainsFunc(status.Conditions, func(condition metav1.Condition) bool { return condition.Type == kind })
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
