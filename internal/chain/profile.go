// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"context"
	"fmt"
	"net/http"
)

// ProfileStage is how far a profile is.
type ProfileStage string

// How far a profile is.
const (
	// ProfileWaiting begins with the next block.
	ProfileWaiting ProfileStage = "Waiting"
	// ProfileSampling is taken.
	ProfileSampling ProfileStage = "Sampling"
	// ProfileFinishing has its names of functions looked up.
	ProfileFinishing ProfileStage = "Finishing"
	// ProfileReady has a content.
	ProfileReady ProfileStage = "Ready"
	// ProfileFailed has none.
	ProfileFailed ProfileStage = "Failed"
)

// ProfileKind is what a profile says of functions.
type ProfileKind string

// What a profile says of functions.
const (
	// ProfileCPU says how much CPU time they take.
	ProfileCPU ProfileKind = "CPU"
	// ProfileAllocations says how much they allocate.
	ProfileAllocations ProfileKind = "Allocations"
)

// ProfileKinds are the kinds of profiles that nodes take.
var ProfileKinds = []ProfileKind{ProfileCPU, ProfileAllocations}

// MostProfileSeconds is how long a node takes a profile at most, and MostProfileBlocks of
// how many blocks.
const (
	MostProfileSeconds = 60
	MostProfileBlocks  = 6000
)

// ProfileWanted is what a profile is of: so many blocks, from the next one on, or so
// many seconds.
type ProfileWanted struct {
	Kind    ProfileKind `json:"kind,omitempty"`
	Blocks  int32       `json:"blocks,omitempty"`
	Seconds int32       `json:"seconds,omitempty"`
}

// Profile is a profile that a node takes or took.
type Profile struct {
	ProfileWanted

	Stage ProfileStage `json:"stage"`
	// FrequencyHertz is how many samples it has of a second of CPU time, and
	// IntervalBytes in how many bytes that are allocated it has one, in the mean; 0 of
	// the other kind.
	FrequencyHertz int32 `json:"frequencyHertz"`
	IntervalBytes  int32 `json:"intervalBytes"`
	// FirstHeight and LastHeight are the finalised blocks with which it began and
	// ended, 0 before it does.
	FirstHeight uint64 `json:"firstHeight"`
	LastHeight  uint64 `json:"lastHeight"`
	Samples     uint64 `json:"samples"`
	// Reason is why it has no content, or ended early; empty if neither is so.
	Reason string `json:"reason"`
}

const (
	profilePath        = "/admin/profile"
	profileContentPath = "/admin/profile/content"
)

// BeginProfile has a node take a profile. It is an admin request, which a node that
// takes one already refuses.
func (c *Client) BeginProfile(ctx context.Context, wanted ProfileWanted) error {
	if wanted.Kind == ProfileCPU {
		// That is what nodes take which are told no kind, older ones among them.
		wanted.Kind = ""
	}
	return c.send(ctx, request{method: http.MethodPut, path: profilePath, admin: true, body: wanted}, &struct{}{})
}

// Profile asks a node for the profile that it takes or took last; nil if there is
// none. It is an admin request.
func (c *Client) Profile(ctx context.Context) (*Profile, error) {
	var answer struct {
		Profile *Profile `json:"profile"`
	}
	if err := c.send(ctx, request{method: http.MethodGet, path: profilePath, admin: true}, &answer); err != nil {
		return nil, err
	}
	return answer.Profile, nil
}

// ProfileContent asks a node for the content of a profile that is ready, which is a
// file of pprof. It is an admin request.
func (c *Client) ProfileContent(ctx context.Context) ([]byte, error) {
	request := request{method: http.MethodGet, path: profileContentPath, admin: true}
	content, err := c.exchange(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s %s%s: %w", request.method, c.baseOf(request), request.path, err)
	}
	return content, nil
}

// EndProfile has a node end the profile that it takes, or forget the one that it
// took. It is an admin request.
func (c *Client) EndProfile(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodDelete, path: profilePath, admin: true}, &struct{}{})
}
