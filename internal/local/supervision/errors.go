// SPDX-License-Identifier: Apache-2.0

package supervision

import (
	"errors"
	"fmt"
)

// ErrInterrupted says that a network was stopped before it was of any use.
var ErrInterrupted = errors.New("interrupted before the network was ready")

// ValidatorError says that a validator cannot be kept running.
type ValidatorError struct {
	// Name is the name of the validator.
	Name string
	// End says how its last process ended.
	End string
	// Log is the path of its log.
	Log string
}

// Error names the validator and how it ended.
func (e *ValidatorError) Error() string {
	return fmt.Sprintf("validator %s cannot run: %s; its log is %s", e.Name, e.End, e.Log)
}

// NotReadyError says that a network did not become ready in time.
type NotReadyError struct {
	// Ready and Wanted are numbers of validators.
	Ready, Wanted int
	// Name is a validator that is not ready.
	Name string
	// Reason says why it is not.
	Reason string
	// Log is the path of its log.
	Log string
}

// Error says how many validators are ready, and why one is not.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("%d of %d validators became ready in time; validator %s: %s; its log is %s",
		e.Ready, e.Wanted, e.Name, e.Reason, e.Log)
}
