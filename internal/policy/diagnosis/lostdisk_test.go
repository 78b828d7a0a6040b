// SPDX-License-Identifier: Apache-2.0

package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/test/networks"
)

// A disk that is gone is told of in words of its own, whatever the scheduler says, and
// also while nobody has decided what becomes of it.
func TestLostDiskIsToldOf(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Lose(observation, 0)
	condition := diagnosis.NodesReady(observation)
	const want = "the disk of quickstart-s0-p0 is gone: its claim data-quickstart-s0-p0-0 names the PersistentVolume pvc-5d0c4f1e, " +
		"which the cluster does not have; for it to come back on a new one, kubectl delete pvc data-quickstart-s0-p0-0"
	if condition.Reason != v1alpha1.ReasonVolumeLost || !strings.Contains(condition.Message, want) {
		t.Errorf("the condition is %s: %s", condition.Reason, condition.Message)
	}
}
