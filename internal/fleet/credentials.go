// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Keys of a member's Secret.
const (
	// KeyKubeconfig is the kubeconfig of the cluster.
	KeyKubeconfig = "kubeconfig"
	// KeyDomain is the domain of the cluster's DNS names. It must be another one
	// in every cluster of a network, and resolve in all of them.
	KeyDomain = "domain"
)

// credentials are the content of a member's Secret.
type credentials struct {
	config *rest.Config
	domain string
	// token is what the config's requests carry; nil for a client certificate.
	token *token
}

// parse reads the Secret of a member. Whoever may write Secrets in a namespace
// must not have the operator run programs, read its own files or send keys to
// servers that it cannot tell from others, so a kubeconfig holds all it needs.
func parse(secret *corev1.Secret) (*credentials, error) {
	domain := strings.TrimSpace(string(secret.Data[KeyDomain]))
	if problems := validation.IsDNS1123Subdomain(domain); len(problems) > 0 {
		return nil, fmt.Errorf("its key %s is %q: %s", KeyDomain, domain, strings.Join(problems, "; "))
	}
	content := secret.Data[KeyKubeconfig]
	if len(content) == 0 {
		return nil, fmt.Errorf("it has no key %s", KeyKubeconfig)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, fmt.Errorf("its key %s: %w", KeyKubeconfig, err)
	}
	if err := selfContained(config); err != nil {
		return nil, fmt.Errorf("its key %s: %w", KeyKubeconfig, err)
	}
	// Fairness between clients is the API server's to see to.
	config.QPS = -1
	read := &credentials{config: config, domain: domain}
	if config.BearerToken != "" {
		read.token = newToken(config.BearerToken)
		config.BearerToken = ""
		config.Wrap(read.token.send)
	}
	return read, nil
}

func selfContained(config *rest.Config) error {
	switch {
	case config.ExecProvider != nil:
		return errors.New("exec is not accepted: the operator runs no programs of others")
	case config.AuthProvider != nil:
		return errors.New("auth-provider is not accepted: use a token or a client certificate")
	case config.BearerTokenFile != "", config.CertFile != "", config.KeyFile != "", config.CAFile != "":
		return errors.New("files are not accepted: use the fields that end in -data, and token")
	case config.Insecure:
		return errors.New("insecure-skip-tls-verify is not accepted: use certificate-authority-data")
	case !strings.HasPrefix(config.Host, "https://"):
		return fmt.Errorf("server is %q, want an https:// address", config.Host)
	}
	return nil
}
