// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	mebibyte, gibibyte = 1 << 20, 1 << 30

	// memoryRequest is the memory that a pod of a benchmark takes without any records, and
	// memoryLimit the most that it may have.
	memoryRequest, memoryLimit = 64 * mebibyte, gibibyte

	// A record has a row for each second and one for each block. Who makes a result has those
	// of all runs at a time, what they are as JSON, and the page that shows them.
	memoryPerSecond, memoryPerBlock = 12 << 10, 1 << 10
	// The disk has them as records, in the result, as a table and on the page.
	diskPerSecond, diskPerBlock = 4 << 10, 512

	// leastBlockTimeMilliseconds is the shortest minBlockTimeMilliseconds that the API takes, and
	// usualBlockTimeMilliseconds its default: that of a network that is there no more.
	leastBlockTimeMilliseconds, usualBlockTimeMilliseconds = 10, 250
)

// rows are how many rows a record has, or the records of several runs.
type rows struct {
	seconds, blocks int64
}

// rowsOf are the most rows of so many runs of a benchmark, whose blocks take so long at least:
// of a network that it names, and 0 if that is not known.
func rowsOf(spec *v1alpha1.BenchmarkSpec, runs int64, blockTimeMilliseconds int32) rows {
	if spec.Network.Name == "" {
		blockTimeMilliseconds = spec.Network.Template.Spec.Protocol.MinBlockTimeMilliseconds
	}
	if blockTimeMilliseconds == 0 {
		blockTimeMilliseconds = usualBlockTimeMilliseconds
	}
	seconds := runs * lasts(spec)
	return rows{seconds: seconds, blocks: seconds * 1000 / int64(blockTimeMilliseconds)}
}

// lasts is how many seconds a run is recorded at most, from the beginning of its load.
func lasts(spec *v1alpha1.BenchmarkSpec) int64 {
	measured := int64(spec.DurationSeconds)
	if spec.WarmUpSeconds != nil {
		measured += int64(*spec.WarmUpSeconds)
	}
	load := &spec.Load
	switch {
	case load.OpenLoop != nil:
		return measured * int64(len(load.OpenLoop.Steps))
	case load.ClosedLoop != nil:
		return measured + int64(load.ClosedLoop.MaxSettleSeconds)
	case load.Search != nil:
		return measured + int64(load.Search.MaxSearchSeconds)
	case load.Ramp != nil:
		for _, step := range load.Ramp.Steps {
			measured += int64(step.DurationSeconds)
		}
	}
	return measured
}

// allRows are the rows of all runs of a benchmark.
func allRows(spec *v1alpha1.BenchmarkSpec, blockTimeMilliseconds int32) rows {
	return rowsOf(spec, int64(spec.Repetitions)*int64(max(1, len(spec.Variants))), blockTimeMilliseconds)
}

// twice are as many rows again.
func (r rows) twice() rows { return rows{seconds: 2 * r.seconds, blocks: 2 * r.blocks} }

// memory is what it takes to have the rows, beside so many bytes.
func (r rows) memory(beside int64) resource.Quantity {
	return upTo(beside+r.seconds*memoryPerSecond+r.blocks*memoryPerBlock, mebibyte)
}

// disk is what it takes to keep them. Disks are of whole gibibytes.
func (r rows) disk() resource.Quantity {
	return upTo(max(1, r.seconds*diskPerSecond+r.blocks*diskPerBlock), gibibyte)
}

// upTo is a number of bytes, up to the next whole unit.
func upTo(bytes, unit int64) resource.Quantity {
	return *resource.NewQuantity((bytes+unit-1)/unit*unit, resource.BinarySI)
}
