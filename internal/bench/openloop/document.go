// SPDX-License-Identifier: Apache-2.0

package openloop

import (
	"encoding/json"
	"fmt"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// documentVersion is that of the documents that loaders write.
const documentVersion = 1

// Document is what a loader says of its run.
type Document struct {
	Version     int    `json:"version"`
	StartedAtMs int64  `json:"startedAtMs"`
	Totals      totals `json:"totals"`
	// AcceptedMs and ExecutedMs are the times from when transfers were due.
	AcceptedMs result.Latency    `json:"acceptedMs"`
	ExecutedMs result.Latency    `json:"executedMs"`
	Saturation result.Saturation `json:"saturation"`
	// Blocks are those that the loader ran between; nil if no node told it in the end.
	Blocks *blockRange `json:"blocks"`
	// Seconds are the counts of each second since the start.
	Seconds []counted `json:"seconds"`
}

// counted are transfers, by what happened to them.
type counted struct {
	Offered  uint64            `json:"offered"`
	Unsent   uint64            `json:"unsent"`
	Sent     uint64            `json:"sent"`
	Accepted uint64            `json:"accepted"`
	Executed uint64            `json:"executed"`
	Refused  map[string]uint64 `json:"refused"`
	Failed   map[string]uint64 `json:"failed"`
	Expired  uint64            `json:"expired"`
	NoAnswer map[string]uint64 `json:"noAnswer"`
}

type totals struct {
	counted

	InFlight uint64 `json:"inFlight"`
}

// blockRange are the finalised blocks above the first height, up to the last.
type blockRange struct {
	FirstHeight uint64 `json:"firstHeight"`
	LastHeight  uint64 `json:"lastHeight"`
}

// Decode reads the document of a loader.
func Decode(content []byte) (*Document, error) {
	var document Document
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("decode result of loader: %w", err)
	}
	if document.Version != documentVersion {
		return nil, fmt.Errorf("result of loader has version %d, this program reads %d", document.Version, documentVersion)
	}
	return &document, nil
}

// LastHeight is the height up to which blocks say what the loader says; 0 if it is
// not known.
func (d *Document) LastHeight() uint64 {
	if d.Blocks == nil {
		return 0
	}
	return d.Blocks.LastHeight
}

// transfers are those of the whole run.
func (d *Document) transfers() result.ClientTransfers {
	return result.ClientTransfers{
		Offered:  d.Totals.Offered,
		Unsent:   d.Totals.Unsent,
		Sent:     d.Totals.Sent,
		Accepted: d.Totals.Accepted,
		Executed: d.Totals.Executed,
		Refused:  d.Totals.Refused,
		Failed:   d.Totals.Failed,
		Expired:  d.Totals.Expired,
		InFlight: d.Totals.InFlight,
		NoAnswer: d.Totals.NoAnswer,
	}
}
