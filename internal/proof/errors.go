// SPDX-License-Identifier: Apache-2.0

package proof

import "fmt"

// Reason is why a proof proves nothing.
type Reason string

const (
	// Malformed is for bytes that are no proof.
	Malformed Reason = "malformed"
	// Voters is for a certificate of a chain with another number of them.
	Voters Reason = "voters"
	// Quorum is for a certificate with too few votes.
	Quorum Reason = "quorum"
	// Vote is for a vote that does not hold.
	Vote Reason = "vote"
	// Block is for a block that is not the one that was finalised.
	Block Reason = "block"
	// Old is for a block that is older than is believed.
	Old Reason = "old"
	// Uncommitted is for a block that says nothing of the height that is proven.
	Uncommitted Reason = "uncommitted"
	// Shard is for a proof from the state of another shard.
	Shard Reason = "shard"
	// Index is for a leaf beyond the end of the state.
	Index Reason = "index"
	// Path is for a path whose length is not that of the state.
	Path Reason = "path"
	// Root is for a path that leads to another state.
	Root Reason = "root"
	// Unrelated is for a leaf that says nothing of the account.
	Unrelated Reason = "unrelated"
	// Outcomes is for an outcome that is not in the list that the block commits to.
	Outcomes Reason = "outcome"
)

// Error is a proof that proves nothing.
type Error struct {
	Reason Reason
	text   string
}

// Error says what is wrong.
func (e *Error) Error() string {
	return e.text
}

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, text: fmt.Sprintf(format, args...)}
}
