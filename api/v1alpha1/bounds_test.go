// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/manifest"
)

// outOfBounds holds values that are out of a field's own bounds by the least
// possible.
var outOfBounds = []struct {
	field  string
	value  any
	reason string
	// blocks says whether rules are not checked because of the error.
	blocks bool
}{
	{field: "spec.node.image", value: "", reason: "at least 1 chars long"},
	{field: "spec.node.image", value: strings.Repeat("i", 513), reason: "not be more than 512", blocks: true},
	{field: "spec.node.features.signatureBatchSize", value: 65_537, reason: "less than or equal to 65536"},
	{field: "spec.node.features.mempoolCapacity", value: 10_000_001, reason: "less than or equal to 10000000"},
	{field: "spec.node.features.mempoolMebibytes", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.node.features.mempoolMebibytes", value: 65_537, reason: "less than or equal to 65536"},
	{field: "spec.node.features.adaptiveChunkSize", value: "On", reason: "Unsupported value", blocks: true},
	{field: "spec.node.resources.limits", value: object{}, reason: "at least 1 properties"},
	{field: "spec.node.resources.limits.cpu", value: "9m", reason: "between 10m and 1024 cores"},
	{field: "spec.node.resources.limits.cpu", value: "1025", reason: "between 10m and 1024 cores"},
	{field: "spec.node.resources.limits.cpu", value: "two", reason: "should match"},
	{field: "spec.node.resources.limits.cpu", value: strings.Repeat("9", 33), reason: "more than 32", blocks: true},
	{field: "spec.node.resources.limits.memory", value: "63Mi", reason: "between 64Mi and 16Ti"},
	{field: "spec.node.resources.limits.memory", value: "17Ti", reason: "between 64Mi and 16Ti"},
	{field: "spec.node.resources.requests.cpu", value: "two", reason: "should match"},
	{field: "spec.node.resources.requests.cpu", value: strings.Repeat("9", 33), reason: "more than 32", blocks: true},
	{field: "spec.node.resources.requests.memory", value: "lots", reason: "should match"},
	{field: "spec.node.resources.requests.memory", value: strings.Repeat("9", 33), reason: "more than 32", blocks: true},
	{field: "spec.node.storage.snapshotIntervalBlocks", value: 1_000_001, reason: "less than or equal to 1000000"},
	{field: "spec.node.storage.retentionBlocks", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.node.storage.retentionBlocks", value: 10_000_001, reason: "less than or equal to 10000000"},
	{field: "spec.placement.machineType", value: "", reason: "at least 1 chars long"},
	{field: "spec.placement.machineType", value: strings.Repeat("m", 64), reason: "not be more than 63", blocks: true},
	{field: "spec.volume.size", value: "large", reason: "should match"},
	{field: "spec.volume.size", value: strings.Repeat("9", 33), reason: "more than 32", blocks: true},
	{field: "spec.volume.iops", value: 1_000_001, reason: "less than or equal to 1000000"},
	{field: "spec.volume.throughputMebibytesPerSecond", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.volume.throughputMebibytesPerSecond", value: 100_001, reason: "less than or equal to 100000"},
	{field: "spec.update.maxUnavailable", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.update.maxUnavailable", value: 1001, reason: "less than or equal to 1000"},
	{field: "spec.update.onTrouble", value: "Panic", reason: "Unsupported value", blocks: true},
	{field: "spec.update.deadlineSeconds", value: 29, reason: "greater than or equal to 30"},
	{field: "spec.update.deadlineSeconds", value: 86_401, reason: "less than or equal to 86400"},
	{field: "spec.update.onlyCopies", value: "Burn", reason: "Unsupported value", blocks: true},
	{field: "spec.healing.mode", value: "Replace", reason: "Unsupported value", blocks: true},
	{field: "spec.healing.lostVolumes", value: "Restart", reason: "Unsupported value", blocks: true},
	{field: "spec.healing.stuckAfterSeconds", value: 59, reason: "greater than or equal to 60"},
	{field: "spec.healing.stuckAfterSeconds", value: 86_401, reason: "less than or equal to 86400"},
	{field: "spec.budget.usdPerHour", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.budget.usdPerHour", value: 1_000_001, reason: "less than or equal to 1000000"},
	{field: "spec.budget.usdPerRun", value: 0, reason: "greater than or equal to 1"},
	{field: "spec.budget.usdPerRun", value: 1_000_000_001, reason: "less than or equal to 1000000000"},
	{field: "spec.lifetime.durationSeconds", value: 59, reason: "greater than or equal to 60"},
	{field: "spec.lifetime.durationSeconds", value: 31_536_001, reason: "less than or equal to 31536000"},
	{field: "spec.load.ramp.steps", value: steps(65), reason: "must have at most 64 items", blocks: true},
}

func steps(count int) []object {
	return slices.Repeat([]object{{"transfersPerSecond": 1, "durationSeconds": 1}}, count)
}

func TestValuesOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range outOfBounds {
		t.Run(test.field+" "+test.reason, func(t *testing.T) {
			t.Parallel()
			// Limits go up to their bounds without requests that would exceed them.
			var edits []edit
			if strings.HasPrefix(test.field, "spec.node.resources.limits") {
				edits = append(edits, remove("spec.node.resources.requests"))
			}
			wrong := edited(t, append(edits, set(test.field, test.value))...)
			want := []refusal{{test.field, test.reason}}
			if test.blocks {
				want = append(want, notChecked)
			}
			_, byReader := manifest.Parse(encode(t, wrong))
			_, byServer := create(t, wrong)
			checkRefusals(t, refusalsOfServer(t, byServer), refusalsOfReader(t, byReader), want)
		})
	}
}
