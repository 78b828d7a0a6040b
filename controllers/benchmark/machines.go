// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/resources"
)

// maxKinds is how many kinds of machines are told: they are an argument of a pod.
const maxKinds = 32

// memoryStep is what memory is told in.
const memoryStep = 256 << 20

// machines are those that the nodes of the present run are on, by their kinds, as JSON;
// empty when nobody may look at them, or there are too many kinds to tell.
func (r *run) machines(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := r.reader.List(ctx, pods, client.InNamespace(r.benchmark.Namespace),
		client.MatchingLabels(resources.NetworkLabels(resources.NetworkOf(r.benchmark)))); err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	used := map[string]bool{}
	for i := range pods.Items {
		if name := pods.Items[i].Spec.NodeName; name != "" {
			used[name] = true
		}
	}
	if len(used) == 0 {
		return "", nil
	}
	all := &corev1.NodeList{}
	if err := r.reader.List(ctx, all); apierrors.IsForbidden(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("list machines: %w", err)
	}
	kinds := machineKinds(slices.DeleteFunc(all.Items, func(machine corev1.Node) bool { return !used[machine.Name] }))
	if len(kinds) == 0 || len(kinds) > maxKinds {
		return "", nil
	}
	content, err := json.Marshal(kinds)
	if err != nil {
		return "", fmt.Errorf("encode machines: %w", err)
	}
	return string(content), nil
}

// machineKinds counts machines by what they are, the most frequent kind first.
func machineKinds(machines []corev1.Node) []result.Machines {
	counts := map[result.Machines]int{}
	for i := range machines {
		status := &machines[i].Status
		counts[result.Machines{
			Type: machines[i].Labels[corev1.LabelInstanceTypeStable],
			OS:   status.NodeInfo.OperatingSystem, Architecture: status.NodeInfo.Architecture,
			Kernel: status.NodeInfo.KernelVersion, System: status.NodeInfo.OSImage,
			CPUs: status.Capacity.Cpu().Value(), MemoryBytes: status.Capacity.Memory().Value() / memoryStep * memoryStep,
		}]++
	}
	kinds := make([]result.Machines, 0, len(counts))
	for kind, count := range counts {
		kind.Count = count
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b result.Machines) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return kinds
}
