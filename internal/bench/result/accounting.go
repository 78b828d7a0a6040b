// SPDX-License-Identifier: Apache-2.0

package result

// Accounting is what had become of the transfers that generators signed, at one sample
// near the end of a run: since the load began, with what waited in pools then.
type Accounting struct {
	TimeMs int64 `json:"timeMs"`
	// Height is the last block that was finalised.
	Height uint64 `json:"height"`
	Signed uint64 `json:"signed"`
	// Refused are those that a pool did not take, and Waiting those that are in one.
	Refused uint64 `json:"refused"`
	Waiting uint64 `json:"waiting"`
	// Executed and Failed are what headers up to that block commit to, and Executing is in
	// chunks up to that block that none of them commits to the execution of.
	Executed  uint64 `json:"executed"`
	Failed    uint64 `json:"failed"`
	Executing uint64 `json:"executing"`
	// Rest is none of these: signed, and less than nothing where blocks hold more.
	Rest int64 `json:"rest"`
	// InFlight is what the next two blocks came to hold. A transfer leaves its pool when a
	// chunk is made, which is before its block is final, and nodes are not asked at the very
	// same time: so much of the rest may be on its way.
	InFlight uint64 `json:"inFlight"`
}

// Lost are those of the rest that are not on their way either.
func (a *Accounting) Lost() int64 {
	return max(0, a.Rest-int64(a.InFlight))
}
