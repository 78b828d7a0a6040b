// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// blockColumns are the columns of the table of blocks.
var blockColumns = []string{
	"variant", "repetition", "measured", "height", "timestampMs", "blockTimeMs",
	"included", "executed", "failed", "credits", "shards", "missedChunks",
}

// WriteBlocks writes all blocks of all runs as CSV, a row each. What is not known
// is empty.
func (r *Result) WriteBlocks(out io.Writer) error {
	writer := csv.NewWriter(out)
	// What a writer of CSV could not write shows when it is flushed.
	_ = writer.Write(blockColumns)
	for i := range r.Runs {
		run := &r.Runs[i]
		measured := map[uint64]bool{}
		for _, block := range run.MeasuredBlocks() {
			measured[block.Height] = true
		}
		for j := range run.Blocks {
			_ = writer.Write(blockRow(run, j, measured[run.Blocks[j].Height]))
		}
	}
	writer.Flush()
	if err := writer.Error(); err != nil {
		return fmt.Errorf("write blocks: %w", err)
	}
	return nil
}

// failureColumns are the columns of the table of failures.
var failureColumns = []string{
	"variant", "repetition", "measured", "beganMs", "endedMs", "kind", "reason", "transactions", "perSecond",
}

// WriteFailures writes why transfers failed in all runs as CSV: a row for each reason
// that there was between two times at which the nodes were asked.
func (r *Result) WriteFailures(out io.Writer) error {
	writer := csv.NewWriter(out)
	// What a writer of CSV could not write shows when it is flushed.
	_ = writer.Write(failureColumns)
	for i := range r.Runs {
		run := &r.Runs[i]
		for _, step := range run.FailureSteps() {
			for _, count := range step.Counts {
				_ = writer.Write(failureRow(run, &step, &count))
			}
		}
	}
	writer.Flush()
	if err := writer.Error(); err != nil {
		return fmt.Errorf("write failures: %w", err)
	}
	return nil
}

func failureRow(run *Run, step *FailureStep, count *FailureCount) []string {
	measured := step.BeganMs >= run.Window.BeginMs && step.EndedMs <= run.Window.EndMs
	return []string{
		run.Variant, strconv.Itoa(run.Repetition), strconv.FormatBool(measured),
		strconv.FormatInt(step.BeganMs, 10), strconv.FormatInt(step.EndedMs, 10), count.Kind, count.Reason,
		strconv.FormatUint(count.Transactions, 10), strconv.FormatFloat(step.PerSecond(count.Transactions), 'f', 3, 64),
	}
}

func blockRow(run *Run, index int, measured bool) []string {
	block := &run.Blocks[index]
	var blockTime, failed string
	if index > 0 {
		blockTime = strconv.FormatInt(block.TimestampMs-run.Blocks[index-1].TimestampMs, 10)
	}
	if block.Failed != nil {
		failed = strconv.FormatUint(*block.Failed, 10)
	}
	return []string{
		run.Variant, strconv.Itoa(run.Repetition), strconv.FormatBool(measured),
		strconv.FormatUint(block.Height, 10), strconv.FormatInt(block.TimestampMs, 10), blockTime,
		strconv.FormatUint(block.Included, 10), strconv.FormatUint(block.Executed, 10), failed,
		strconv.FormatUint(block.Credits, 10), strconv.Itoa(block.Shards), strconv.Itoa(block.MissedChunks),
	}
}
