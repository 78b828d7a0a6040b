// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/test/buckets"
)

// documentedRole is the Role of the guide.
func documentedRole(t *testing.T) *rbacv1.Role {
	t.Helper()
	guide, err := os.ReadFile("../../docs/guides/archives.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(guide), "```yaml\napiVersion: rbac.authorization.k8s.io/v1\n")
	content, _, ended := strings.Cut(after, "```")
	role := &rbacv1.Role{}
	if err := yaml.UnmarshalStrict([]byte(content), role); err != nil || !found || !ended {
		t.Fatalf("the guide has no Role: %v", err)
	}
	return role
}

// lend gives somebody in a namespace the rights of the guide, and no others.
func (y *yard) lend() {
	y.t.Helper()
	role := documentedRole(y.t)
	role.Namespace = y.namespace
	y.must(y.client.Create(y.t.Context(), role))
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "keeper"}},
	}
	binding.Namespace, binding.Name = y.namespace, role.Name
	y.must(y.client.Create(y.t.Context(), binding))
	config := rest.CopyConfig(apiServer)
	config.Impersonate = rest.ImpersonationConfig{UserName: "keeper"}
	var err error
	y.options.Client, err = client.New(config, client.Options{Scheme: y.client.Scheme()})
	y.must(err)
}

// The rights of the guide are enough to keep a network, and to restore it, and to do so again
// over disks that are there.
func TestDocumentedRightsSuffice(t *testing.T) {
	server := buckets.Serve(t)
	from := newYard(t, server.URL("kept"))
	from.stop()
	from.lend()
	_, err := from.backup()
	from.must(err)
	from.checkClean()

	to := newYard(t, server.URL("kept"))
	to.lend()
	for range 2 {
		_, err = to.restore(t.Context(), func(options *RestoreOptions) { options.Replace = true })
		to.must(err)
		to.checkClean()
		to.checkRestored(from)
	}
}
