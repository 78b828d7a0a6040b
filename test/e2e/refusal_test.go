// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// testRefusals applies wrong manifests as a user would. The cluster takes none
// of them and names the field that is wrong.
func (c *cluster) testRefusals(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{
			name: "out-of-bounds",
			spec: `{shards: 0, producersPerShard: 1, regions: [{name: local, nodes: 1}], genesis: {accountsPerShard: 100}}`,
			want: "spec.shards: Invalid value: 0",
		},
		{
			name: "contradictory",
			spec: `{shards: 2, producersPerShard: 2, regions: [{name: local, nodes: 5}], genesis: {accountsPerShard: 100}}`,
			want: "the regions have 5 nodes",
		},
		{
			name: "unknown-field",
			spec: `{shards: 1, producersPerShard: 1, regions: [{name: local, nodes: 1}], genesis: {accountsPerShard: 100}, shardz: 1}`,
			want: `unknown field "spec.shardz"`,
		},
		{
			name: "no-such-profile",
			spec: `{shards: 1, producersPerShard: 1, regions: [{name: local, nodes: 1}], genesis: {accountsPerShard: 100}, tcp: {profile: Fast}}`,
			want: "spec.tcp.profile: Unsupported value",
		},
		{
			name: "class-and-performance",
			spec: `{shards: 1, producersPerShard: 1, regions: [{name: local, nodes: 1}], genesis: {accountsPerShard: 100},
				volume: {size: 1Gi, storageClassName: local-path, iops: 3000}}`,
			want: "spec.volume.iops",
		},
		{
			name: "9-begins-with-a-digit",
			spec: `{shards: 1, producersPerShard: 1, regions: [{name: local, nodes: 1}], genesis: {accountsPerShard: 100}}`,
			want: "metadata.name must be a DNS label that begins with a letter",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			manifest := fmt.Sprintf("{apiVersion: shardyard.dev/v1alpha1, kind: ShardNetwork, metadata: {name: %s}, spec: %s}",
				test.name, test.spec)
			_, err := c.kubectl.run(t.Context(), manifest, "apply", "--filename", "-")
			if err == nil {
				t.Fatal("the cluster took it")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", err, test.want)
			}
		})
	}
}

// testFixedFields changes what genesis fixes.
func (n *network) testFixedFields(t *testing.T) {
	patch := `{"spec": {"genesis": {"accountsPerShard": 7}}}`
	_, err := n.kubectl.run(t.Context(), "",
		"--namespace", n.namespace, "patch", "shardnetwork", n.name, "--type", "merge", "--patch", patch)
	if err == nil {
		t.Fatal("the cluster took other accounts")
	}
	if want := "spec.genesis"; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one that says %q", err, want)
	}
}
