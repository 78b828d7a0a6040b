// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/topology"
)

// Each producer has what its own share of every step comes to, however uneven.
func TestStock(t *testing.T) {
	t.Parallel()
	validators := []topology.Validator{
		{Role: topology.RoleProducer}, {Role: topology.RoleChunkValidator}, {Role: topology.RoleProducer},
	}
	ramp := &v1alpha1.RampLoad{Steps: []v1alpha1.RampStep{
		{TransfersPerSecond: ptr.To[int64](0), DurationSeconds: 5},
		{TransfersPerSecond: ptr.To[int64](3), DurationSeconds: 10},
		{TransfersPerSecond: ptr.To[int64](1), DurationSeconds: 20},
	}}
	schedule, err := bench.NewSchedule(&v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: ramp})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		until time.Duration
		want  []int64
	}{
		{0, []int64{0, 0, 0}},
		{5 * time.Second, []int64{0, 0, 0}},
		{7500 * time.Millisecond, []int64{3, 0, 6}},
		{15 * time.Second, []int64{10, 0, 20}},
		// The last step goes on for as long as somebody asks for.
		{45 * time.Second, []int64{10, 0, 50}},
	} {
		if got := schedule.Stock(test.until, validators); !slices.Equal(got, test.want) {
			t.Errorf("until %s it is %d, want %d", test.until, got, test.want)
		}
	}
}
