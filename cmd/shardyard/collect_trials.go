// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/support"
)

// trial is something that is done to a network: a fault, or a benchmark.
type trial struct {
	// name is that of the object, and label the one that its pods have.
	name, label string
}

// trialKind is a kind of what is done to networks.
type trialKind struct {
	kind, label string
	// network is where an object names its network.
	network []string
}

var trialKinds = []trialKind{
	{v1alpha1.KindFault, resources.LabelFault, []string{"spec", "networkName"}},
	{v1alpha1.KindBenchmark, resources.LabelBenchmark, []string{"spec", "network", "name"}},
}

// trials adds the faults and the benchmarks of the network: those that name it, and
// the benchmark that made it.
func (c *clusterCollector) trials(
	ctx context.Context, bundle *support.Bundle, network *unstructured.Unstructured,
) ([]trial, error) {
	var found []trial
	for _, of := range trialKinds {
		file := path.Join("objects", strings.ToLower(of.kind)+".yaml")
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(of.kind + "List"))
		if err := c.client.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
			bundle.Miss(file, err)
			continue
		}
		var its []unstructured.Unstructured
		for i := range list.Items {
			named, _, err := unstructured.NestedString(list.Items[i].Object, of.network...)
			if err != nil {
				return nil, err
			}
			if named == c.network || metav1.IsControlledBy(network, &list.Items[i]) {
				its = append(its, list.Items[i])
				found = append(found, trial{list.Items[i].GetName(), of.label})
			}
		}
		if err := addObjects(bundle, file, its...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// podsOf adds the logs of the pods of faults and benchmarks.
func (c *clusterCollector) podsOf(ctx context.Context, bundle *support.Bundle, trials []trial) error {
	for _, trial := range trials {
		its := client.MatchingLabels{trial.label: trial.name}
		if err := c.pods(ctx, bundle, path.Join("trials", trial.name), client.InNamespace(c.namespace), its); err != nil {
			return err
		}
	}
	return nil
}
