// SPDX-License-Identifier: Apache-2.0

package result

// Profile is a profile of all validators of a run that took one, and where it is.
type Profile struct {
	// Kind is what it says of functions, CPU or Allocations.
	Kind string `json:"kind"`
	// Taken is when it was taken.
	Taken ProfileTime `json:"taken"`
	// Files are its files in the artifact: one of pprof, and pages.
	Files []string `json:"files"`
}

// ProfileTime is when a profile was taken.
type ProfileTime string

const (
	// ProfileDuring is through the measurement.
	ProfileDuring ProfileTime = "DuringMeasurement"
	// ProfileAfter is when the measurement was complete, under the same load.
	ProfileAfter ProfileTime = "AfterMeasurement"
)
