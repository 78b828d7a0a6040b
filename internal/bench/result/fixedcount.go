// SPDX-License-Identifier: Apache-2.0

package result

// FixedCount is what became of a fixed count of transfers, as far as blocks said it up to
// the end of the measurement.
type FixedCount struct {
	// Transfers is how many there were.
	Transfers uint64 `json:"transfers"`
	// Executed and Failed are what headers commit to of them, and Refused is what pools
	// did not take. The others had come to no end.
	Executed uint64 `json:"executed"`
	Failed   uint64 `json:"failed"`
	Refused  uint64 `json:"refused"`
	// LastHeight is the block whose headers are the first to commit to the execution of
	// the last of them; absent when not all had come to an end.
	LastHeight uint64 `json:"lastHeight,omitempty"`
}

// Ended is how many of them had come to an end.
func (f *FixedCount) Ended() uint64 { return f.Executed + f.Failed + f.Refused }
