// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// RevisionOf is what a network's spec asks of its nodes, made with an image.
func RevisionOf(network *v1alpha1.ShardNetwork, image string) (*v1alpha1.NodeRevision, error) {
	spec := network.Spec.DeepCopy()
	surroundings := &v1alpha1.NodeSurroundings{Links: spec.Links, Tracing: spec.Tracing}
	revision := &v1alpha1.NodeRevision{Node: spec.Node, Placement: spec.Placement, PodTemplate: spec.PodTemplate, TCP: spec.TCP}
	revision.Node.Image = image
	if len(surroundings.Links) > 0 || surroundings.Tracing != nil {
		revision.Surroundings = surroundings
	}
	content, err := json.Marshal(revision)
	if err != nil {
		return nil, fmt.Errorf("encode revision: %w", err)
	}
	sum := sha256.Sum256(content)
	revision.Name = hex.EncodeToString(sum[:8])
	// It is known of all that is kept from now on, and in the name only of those that have any.
	revision.Surroundings = surroundings
	return revision, nil
}

// Effective is a network as its nodes are to be: with what they ran before where
// what the spec asks of them was rolled back, or waits for a height. A pod that goes
// meanwhile for another reason comes back as it was.
func Effective(network *v1alpha1.ShardNetwork, wanted *v1alpha1.NodeRevision) *v1alpha1.ShardNetwork {
	if !rolledBack(network.Status.Update, wanted) && !awaitsHeight(network, wanted) {
		return network
	}
	return AsBefore(network)
}

// AsBefore is a network with what its nodes all ran last, if they ever did.
func AsBefore(network *v1alpha1.ShardNetwork) *v1alpha1.ShardNetwork {
	if network.Status.StableRevision == nil {
		return network
	}
	before, stable := network.DeepCopy(), network.Status.StableRevision.DeepCopy()
	before.Spec.Node, before.Spec.Placement = stable.Node, stable.Placement
	before.Spec.PodTemplate, before.Spec.TCP = stable.PodTemplate, stable.TCP
	if stable.Surroundings != nil {
		before.Spec.Links, before.Spec.Tracing = stable.Surroundings.Links, stable.Surroundings.Tracing
	}
	return before
}

// rolledBack says whether what the spec asks of the nodes was refused.
func rolledBack(update *v1alpha1.UpdateStatus, wanted *v1alpha1.NodeRevision) bool {
	return update != nil && wanted != nil && update.Revision == wanted.Name &&
		(update.Phase == v1alpha1.UpdateRollingBack || update.Phase == v1alpha1.UpdateRolledBack)
}

// differences are the fields of a spec that make two revisions differ.
func differences(before, after *v1alpha1.NodeRevision) []string {
	if before == nil || after == nil {
		return nil
	}
	var fields []string
	parts := map[string][2]any{
		"spec.node":        {before.Node, after.Node},
		"spec.placement":   {before.Placement, after.Placement},
		"spec.podTemplate": {before.PodTemplate, after.PodTemplate},
		"spec.tcp":         {before.TCP, after.TCP},
	}
	if before.Surroundings != nil && after.Surroundings != nil {
		parts["spec"] = [2]any{before.Surroundings, after.Surroundings}
	}
	for part, pair := range parts {
		var old, recent map[string]any
		decodeAs(pair[0], &old)
		decodeAs(pair[1], &recent)
		fields = append(fields, differing(part, old, recent)...)
	}
	slices.Sort(fields)
	return fields
}

func differing(path string, before, after any) []string {
	old, isObject := before.(map[string]any)
	recent, alsoObject := after.(map[string]any)
	if !isObject || !alsoObject {
		if fmt.Sprint(before) == fmt.Sprint(after) {
			return nil
		}
		return []string{path}
	}
	// Of a part that may be left out, either is nil.
	keys := map[string]any{}
	maps.Copy(keys, old)
	maps.Copy(keys, recent)
	var fields []string
	for key := range keys {
		fields = append(fields, differing(path+"."+key, old[key], recent[key])...)
	}
	return fields
}

// decodeAs turns a part of a spec, which always can be encoded, into its fields.
func decodeAs(part any, fields *map[string]any) {
	content, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(content, fields)
	}
	if err != nil {
		*fields = map[string]any{}
	}
}
