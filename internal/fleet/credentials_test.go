// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// kubeconfig is one of a cluster and a user in YAML's flow style.
func kubeconfig(cluster, user string) []byte {
	return []byte(`{apiVersion: v1, kind: Config, current-context: far,
clusters: [{name: far, cluster: ` + cluster + `}], users: [{name: far, user: ` + user + `}],
contexts: [{name: far, context: {cluster: far, user: far}}]}`)
}

const someCluster = `{server: "https://203.0.113.7", certificate-authority-data: Y2E=}`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := parse(&corev1.Secret{Data: map[string][]byte{
		KeyDomain:     []byte("us-east4.example\n"),
		KeyKubeconfig: kubeconfig(someCluster, `{token: secret}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got.domain != "us-east4.example" {
		t.Errorf("the domain is %q", got.domain)
	}
	if got.config.Host != "https://203.0.113.7" || *got.token.value.Load() != "secret" || string(got.config.CAData) != "ca" {
		t.Errorf("the configuration is %v", got.config)
	}
}

// Whoever may write Secrets must not reach further with the operator's help.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		domain     string
		kubeconfig []byte
		want       string
	}{
		"no domain":     {"", kubeconfig(someCluster, `{token: secret}`), `its key domain is ""`},
		"bad domain":    {"No Domain", kubeconfig(someCluster, `{token: secret}`), `its key domain is "No Domain"`},
		"no kubeconfig": {"far.example", nil, "it has no key kubeconfig"},
		"no YAML":       {"far.example", []byte("{"), "its key kubeconfig: "},
		"no context":    {"far.example", []byte("{apiVersion: v1, kind: Config}"), "its key kubeconfig: "},
		"a program": {
			"far.example", kubeconfig(someCluster, `{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}`),
			"exec is not accepted",
		},
		"a plugin":       {"far.example", kubeconfig(someCluster, `{auth-provider: {name: gcp}}`), "auth-provider is not accepted"},
		"a token's file": {"far.example", kubeconfig(someCluster, `{tokenFile: /etc/passwd}`), "files are not accepted"},
		"a certificate's file": {
			"far.example", kubeconfig(`{server: "https://203.0.113.7", certificate-authority: /etc/passwd}`, `{token: secret}`),
			"files are not accepted",
		},
		"no check of the server": {
			"far.example", kubeconfig(`{server: "https://203.0.113.7", insecure-skip-tls-verify: true}`, `{token: secret}`),
			"insecure-skip-tls-verify is not accepted",
		},
		"plain HTTP": {"far.example", kubeconfig(`{server: "http://203.0.113.7"}`, `{token: secret}`), `want an https:// address`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(&corev1.Secret{Data: map[string][]byte{KeyDomain: []byte(test.domain), KeyKubeconfig: test.kubeconfig}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats the token: %v", err)
			}
		})
	}
}
