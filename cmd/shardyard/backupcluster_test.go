// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/manifest"
)

// Which network is meant is said by the flags, and those that are about another kind are
// refused before anything is looked for.
func TestBackupsOfTwoKinds(t *testing.T) {
	t.Parallel()
	const place = "s3://kept/net"
	for want, args := range map[string][]string{
		"error: --secret is about networks of a cluster: say which with --namespace": {
			"backup", place, "--network", "net", "--secret", "writer",
		},
		"error: --manifest is about networks of a cluster: say which with --namespace": {
			"restore", place, "--manifest", quickstart,
		},
		"error: --state-dir is about networks of this machine, and --namespace about those of a cluster": {
			"backup", place, "--network", "net", "-n", "yard", "--state-dir", t.TempDir(),
		},
		"error: --shardnode is about networks of this machine, and --context about those of a cluster": {
			"restore", place, "--context", "here", "--shardnode", "shardnode",
		},
		"error: --at-once is 0: want 1 or more":         {"restore", place, "-n", "yard", "--at-once", "0"},
		"error: --timeout is 0s: want a second or more": {"restore", place, "-n", "yard", "--timeout", "0s"},
	} {
		if got := shardyardFails(t, args...); len(got) != 1 || got[0] != want {
			t.Errorf("%v prints %q, want %q", args, got, want)
		}
	}
}

// A cluster is asked for the network, in the namespace that is named.
func TestBackupsOfClusters(t *testing.T) {
	t.Parallel()
	path := kubeconfig(t)
	direct, err := (&clusterFlags{kubeconfig: path}).client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	network, err := manifest.Read(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	network.Namespace = namespace.Name
	if err := direct.Create(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	in := []string{"--kubeconfig", path, "-n", namespace.Name}
	for want, args := range map[string][]string{
		"error: there is no network absent in the namespace " + namespace.Name: {"backup", "s3://kept/net", "--network", "absent"},
		"error: network quickstart runs, and its files change: stop it first":  {"backup", "s3://kept/net", "--network", network.Name},
		"error: /kept is a folder of this machine, which pods do not reach":    {"backup", "/kept", "--network", network.Name},
		"error: name the operator's image with --image: ":                      {"restore", "s3://kept/net"},
	} {
		if got := shardyardFails(t, append(args, in...)...); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%v prints %q, want %q", args, got, want)
		}
	}
}
