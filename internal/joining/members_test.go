// SPDX-License-Identifier: Apache-2.0

package joining

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const terraformOutputs = `{
  "clusters": {"sensitive": false, "type": ["object", {}], "value": {
    "us-east4": {"name": "c", "endpoint": "203.0.113.4", "ca_certificate": "Y2EtNA==", "domain": "us-east4.shardyard"},
    "us-central1": {"name": "a", "endpoint": "203.0.113.1", "ca_certificate": "Y2EtMQ==", "domain": "us-central1.shardyard"},
    "us-east1": {"name": "b", "endpoint": "https://203.0.113.2", "ca_certificate": "Y2EtMg==", "domain": "us-east1.shardyard"}
  }},
  "home_region": {"value": "us-central1"},
  "nodes": {"value": {"us-central1": 47}}
}`

func TestParseOutputs(t *testing.T) {
	t.Parallel()
	members, err := parseOutputs([]byte(terraformOutputs), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ name, domain, host, authority string }{
		{"us-east1", "us-east1.shardyard", "https://203.0.113.2", "ca-2"},
		{"us-east4", "us-east4.shardyard", "https://203.0.113.4", "ca-4"},
	}
	if len(members) != len(want) {
		t.Fatalf("%d members, want %d", len(members), len(want))
	}
	for i, want := range want {
		got := members[i]
		if got.Name != want.name || got.Domain != want.domain || got.config.Host != want.host ||
			string(got.config.CAData) != want.authority {
			t.Errorf("member %d is %s in %s at %s with %s, want %+v",
				i, got.Name, got.Domain, got.config.Host, got.config.CAData, want)
		}
	}
	if members, err = parseOutputs([]byte(terraformOutputs), "us-east4"); err != nil || members[0].Name != "us-central1" {
		t.Errorf("with another home, the members are %v, %v", members, err)
	}
}

func TestParseOutputsRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ content, home, want string }{
		"no JSON":        {"clusters", "", "invalid character"},
		"no clusters":    {`{"home_region": {"value": "a"}}`, "", "there is no output clusters"},
		"no such region": {terraformOutputs, "mars", `is "mars", which has none; there are us-central1, us-east1, us-east4`},
		"no certificate": {strings.Replace(terraformOutputs, "Y2EtNA==", "-----BEGIN", 1), "", "us-east4: ca_certificate is not base64"},
		"no domain":      {strings.Replace(terraformOutputs, "us-east4.shardyard", "", 1), "", "us-east4: endpoint or domain is empty"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := parseOutputs([]byte(test.content), test.home); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestMembersOfContexts(t *testing.T) {
	t.Parallel()
	content := clientcmdapi.NewConfig()
	content.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://203.0.113.4"}
	content.Contexts["gke,far"] = &clientcmdapi.Context{Cluster: "c"}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: filepath.Join(t.TempDir(), "kubeconfig")}
	if err := clientcmd.WriteToFile(*content, rules.ExplicitPath); err != nil {
		t.Fatal(err)
	}
	members, err := OfContexts(rules, []string{"us-east4=gke,far,us-east4.example"})
	if err != nil {
		t.Fatal(err)
	}
	if got := members[0]; got.Name != "us-east4" || got.Domain != "us-east4.example" || got.config.Host != "https://203.0.113.4" {
		t.Errorf("the member is %+v", got)
	}
	for _, argument := range []string{"us-east4", "us-east4=gke", "=gke,domain", "us-east4=,domain", "us-east4=gke,"} {
		if _, err := OfContexts(rules, []string{argument}); err == nil || !strings.Contains(err.Error(), "NAME=CONTEXT,DOMAIN") {
			t.Errorf("%q: the error is %v", argument, err)
		}
	}
	if _, err := OfContexts(rules, []string{"us-east4=near,domain"}); err == nil || !strings.Contains(err.Error(), "near") {
		t.Errorf("of a context that is not there, the error is %v", err)
	}
}

// The token comes from a command, and goes to the members alone.
func TestMembersOfTerraform(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "outputs.json")
	if err := os.WriteFile(path, []byte(terraformOutputs), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Outputs{File: path, TokenCommand: "echo secret"}
	members, err := o.Members(t.Context(), nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range members {
		if member.config.BearerToken != "secret" {
			t.Errorf("the token of %s is %q", member.Name, member.config.BearerToken)
		}
	}
	o.TokenCommand = "false"
	if _, err := o.Members(t.Context(), nil, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "false: ") {
		t.Errorf("when the command fails, the error is %v", err)
	}
}

// The account must not be able to do what the operator does not do there.
func TestRole(t *testing.T) {
	t.Parallel()
	objects, err := role("chains")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		kind := object.GetKind()
		if namespace := object.GetNamespace(); namespace != "chains" && !strings.HasPrefix(kind, "ClusterRole") {
			t.Errorf("%s %s is in namespace %q", kind, object.GetName(), namespace)
		}
		rules, _ := object.Object["rules"].([]any)
		for _, rule := range rules {
			for _, fault := range faults(kind, rule.(map[string]any)) {
				t.Errorf("%s %s %s", kind, object.GetName(), fault)
			}
		}
	}
}

// faults are what a rule of the account's allows and must not.
func faults(kind string, rule map[string]any) (found []string) {
	for field, values := range rule {
		if slices.Contains(values.([]any), any("*")) {
			found = append(found, "has all "+field)
		}
	}
	if kind != "ClusterRole" {
		return found
	}
	verbs, resources := rule["verbs"].([]any), rule["resources"].([]any)
	onlyLooks := reflect.DeepEqual(verbs, []any{"get", "list", "watch"})
	for _, resource := range resources {
		switch {
		case resource == "storageclasses", resource == "nodes" && onlyLooks:
		case resource == "persistentvolumes" && reflect.DeepEqual(verbs, []any{"get"}):
		case resource == "namespaces" && reflect.DeepEqual(rule["resourceNames"], []any{"kube-system"}):
		default:
			found = append(found, fmt.Sprintf("may %s %s in all namespaces", verbs, resource))
		}
	}
	return found
}
