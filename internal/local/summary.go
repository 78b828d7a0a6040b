// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/shardyard/shardyard/internal/archives"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/topology"
)

// Summary is what became of a run.
//
// A run begins with the first block that is finalised once all validators are
// ready. Executed, CrossShard and MissedChunks are counted from there on. TPS,
// BlockTimeMs and CPUMicrosecondsPerTransfer are measured over the last
// WindowSeconds, between two finalised blocks: from the time that the load
// reached its last step, when the run then went on for at least ten seconds, and
// otherwise over the whole run.
type Summary struct {
	// TPS is the rate of transfers that finalised headers commit as executed.
	TPS float64 `json:"tps"`
	// BlockTimeMs is the mean time between two finalised blocks.
	BlockTimeMs float64 `json:"blockTimeMs"`
	// Height is the last finalised height.
	Height uint64 `json:"height"`
	// Shards, Validators, RPCNodes and Archives are numbers of the plan.
	Shards     int `json:"shards"`
	Validators int `json:"validators"`
	RPCNodes   int `json:"rpcNodes,omitempty"`
	Archives   int `json:"archives,omitempty"`
	// Executed is the number of transfers, each counted once.
	Executed uint64 `json:"executed"`
	// CrossShard is the number of those whose receiver lives in another shard.
	CrossShard uint64 `json:"crossShard"`
	// MissedChunks is the number of chunks left out of finalised blocks.
	MissedChunks uint64 `json:"missedChunks"`
	// SupplyConserved says that no validator told of value that came from
	// nowhere or was lost.
	SupplyConserved bool `json:"supplyConserved"`
	// CPUMicrosecondsPerTransfer is the CPU time of all validators together;
	// nil when no transfer was executed.
	CPUMicrosecondsPerTransfer *float64 `json:"cpuMicrosecondsPerTransfer"`
	// WindowSeconds is the time between the two finalised blocks of the
	// measurement.
	WindowSeconds float64 `json:"windowSeconds"`
	// GenesisHash identifies the chain.
	GenesisHash string `json:"genesisHash"`
	// StatesArchived says whether every shard could come back from an archive at the
	// end; nil for a network without archives.
	StatesArchived *StatesArchived `json:"statesArchived,omitempty"`
}

// StatesArchived is how archives stand to the shards, in a word and in a sentence.
type StatesArchived struct {
	Standing archives.Standing `json:"standing"`
	Says     string            `json:"says"`
}

// summarize makes the summary of a run that is finished.
func (r *run) summarize(network *network, measured bench.Measurement) *Summary {
	summary := &Summary{
		TPS:             tenths(measured.TPS()),
		BlockTimeMs:     tenths(float64(measured.BlockTime()) / float64(time.Millisecond)),
		Shards:          network.Plan.Shards,
		Validators:      network.Plan.Validators(),
		RPCNodes:        int(network.Manifest.Spec.RPCNodes),
		Archives:        int(network.Manifest.Spec.ArchiveNodes),
		SupplyConserved: r.supplyConserved(),
		WindowSeconds:   tenths(measured.Window.Seconds()),
		GenesisHash:     r.base.GenesisHash,
	}
	if perTransfer, ok := measured.CPUPerTransfer(); ok {
		microseconds := tenths(float64(perTransfer) / float64(time.Microsecond))
		summary.CPUMicrosecondsPerTransfer = &microseconds
	}
	summary.StatesArchived = r.statesArchived(network)
	if seen := r.furthest; seen != nil {
		summary.Height = seen.FinalizedHeight
		summary.Executed = seen.Transfers - r.base.Transfers
		summary.CrossShard = seen.CrossShard - r.base.CrossShard
		summary.MissedChunks = seen.MissedChunks - r.base.MissedChunks
	}
	return summary
}

// statesArchived says how the archives stood when the nodes last said so. Some were not
// asked then.
func (r *run) statesArchived(network *network) *StatesArchived {
	var seen []archives.Archive
	for _, supervisor := range r.group.Supervisors {
		if supervisor.Node.Validator.Role == topology.RoleArchive {
			seen = append(seen, archives.Archive{Name: supervisor.Name(), Status: r.last.Status(supervisor.Name())})
		}
	}
	if len(seen) == 0 {
		return nil
	}
	standing, words := archives.Stand(network.Manifest.Spec.Node.Storage, r.last.Best(), seen)
	return &StatesArchived{Standing: standing, Says: words}
}

// supplyConserved says that neither the audit nor a validator's last status
// tells of lost value: the audit ends at the first fault, which may be another.
func (r *run) supplyConserved() bool {
	if _, lost := errors.AsType[*bench.SupplyError](r.violation); lost {
		return false
	}
	for _, status := range r.last.Answers() {
		if !status.Supply.Conserved {
			return false
		}
	}
	return true
}

// WriteJSON writes the summary as one line.
func (s *Summary) WriteJSON(out io.Writer) error {
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s\n", content)
	return err
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(out io.Writer) error {
	cpu := "no transfer was executed"
	if s.CPUMicrosecondsPerTransfer != nil {
		cpu = fmt.Sprintf("%.1f µs per transfer, all validators together", *s.CPUMicrosecondsPerTransfer)
	}
	supply := "conserved"
	if !s.SupplyConserved {
		supply = "NOT conserved"
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := [][2]string{
		{"TPS", fmt.Sprintf("%s over the last %.1f s", console.Thousands(int64(s.TPS)), s.WindowSeconds)},
		{"block time", fmt.Sprintf("%.1f ms", s.BlockTimeMs)},
		{"CPU", cpu},
		{"height", console.Thousands(s.Height)},
		{"shards", fmt.Sprintf("%d, with %s", s.Shards, console.Plural(s.Validators, "validator"))},
		{"executed", fmt.Sprintf("%s, %s of them to another shard", console.Plural(s.Executed, "transfer"), console.Thousands(s.CrossShard))},
		{"missed chunks", console.Thousands(s.MissedChunks)},
		{"supply", supply},
		{"genesis hash", s.GenesisHash},
	}
	if s.StatesArchived != nil {
		rows = append(rows, [2]string{"archives", s.StatesArchived.Says})
	}
	for _, row := range rows {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	return table.Flush()
}

// tenths rounds to one decimal.
func tenths(number float64) float64 {
	return math.Round(number*10) / 10
}
