// SPDX-License-Identifier: Apache-2.0

package nodeconfig_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

func TestWorkerThreads(t *testing.T) {
	t.Parallel()
	cpu := func(amount string) *v1alpha1.ResourceAmounts {
		return &v1alpha1.ResourceAmounts{CPU: ptr.To(resource.MustParse(amount))}
	}
	memory := &v1alpha1.ResourceAmounts{Memory: ptr.To(resource.MustParse("1Gi"))}
	cases := map[string]struct {
		resources *v1alpha1.NodeResources
		want      int32
	}{
		"nothing":           {nil, 0},
		"empty":             {&v1alpha1.NodeResources{}, 0},
		"memory only":       {&v1alpha1.NodeResources{Requests: memory, Limits: memory}, 0},
		"limit":             {&v1alpha1.NodeResources{Limits: cpu("16")}, 16},
		"request":           {&v1alpha1.NodeResources{Requests: cpu("4")}, 4},
		"limit and request": {&v1alpha1.NodeResources{Requests: cpu("4"), Limits: cpu("8")}, 8},
		"memory limit":      {&v1alpha1.NodeResources{Requests: cpu("4"), Limits: memory}, 4},
		"part of a core":    {&v1alpha1.NodeResources{Limits: cpu("500m")}, 1},
		"begun core":        {&v1alpha1.NodeResources{Limits: cpu("2500m")}, 3},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nodeconfig.WorkerThreads(test.resources); got != test.want {
				t.Errorf("%d threads, want %d", got, test.want)
			}
		})
	}
}
