// SPDX-License-Identifier: Apache-2.0

package joining

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memberrole "github.com/shardyard/shardyard/config/member"
	"github.com/shardyard/shardyard/internal/fleet"
)

const (
	// fieldManager owns the fields that this applies.
	fieldManager = "shardyard-join"
	// account is the operator's in a member.
	account = "shardyard-member"
	// tokenLifetime is how long its token is valid, unless the cluster allows less.
	// The operator renews it when half of that is over.
	tokenLifetime = 30 * 24 * time.Hour
	// requestTimeout bounds how long a cluster may keep this waiting.
	requestTimeout = 30 * time.Second
)

func newClient(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	return client.New(config, client.Options{})
}

// All joins clusters, one after the other, and tells of each that was joined. The
// namespace is that of the networks, of the same name in all clusters; home is the
// operator's own cluster.
func All(ctx context.Context, home *rest.Config, namespace string, members []Member, joined func(*Member)) error {
	api, err := newClient(home)
	if err == nil {
		err = ensureNamespace(ctx, api, namespace)
	}
	if err != nil {
		return fmt.Errorf("the operator's own cluster: %w", err)
	}
	for i := range members {
		member := &members[i]
		if err := member.join(ctx, api, namespace); err != nil {
			return fmt.Errorf("join %s: %w", member.Name, err)
		}
		joined(member)
	}
	return nil
}

// join makes the operator's account in the member, and the Secret that names it
// at home.
func (m *Member) join(ctx context.Context, home client.Client, namespace string) error {
	api, err := newClient(m.config)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, api, namespace); err != nil {
		return err
	}
	if err := applyRole(ctx, api, namespace); err != nil {
		return err
	}
	token, err := requestToken(ctx, api, namespace)
	if err != nil {
		return err
	}
	kubeconfig, err := m.kubeconfig(token)
	if err != nil {
		return err
	}
	if err := tryOut(ctx, kubeconfig, namespace); err != nil {
		return fmt.Errorf("the account does not work: %w", err)
	}
	if err := apply(ctx, home, m.secret(namespace, kubeconfig)); err != nil {
		return err
	}
	return dropLastingToken(ctx, api, namespace)
}

// secret is what names the member at home.
func (m *Member) secret(namespace string, kubeconfig []byte) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata": map[string]any{
			"namespace": namespace,
			"name":      m.Name,
			"labels":    map[string]any{"app.kubernetes.io/part-of": "shardyard"},
		},
		"type":       string(corev1.SecretTypeOpaque),
		"stringData": map[string]any{fleet.KeyKubeconfig: string(kubeconfig), fleet.KeyDomain: m.Domain},
	}}
}

// dropLastingToken ends a token of the account that never would.
func dropLastingToken(ctx context.Context, api client.Client, namespace string) error {
	secret := &corev1.Secret{}
	err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: account}, secret)
	if err == nil && secret.Type == corev1.SecretTypeServiceAccountToken {
		err = api.Delete(ctx, secret)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the Secret of a token that never expires: %w", err)
	}
	return nil
}

func ensureNamespace(ctx context.Context, api client.Client, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := api.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read namespace %s: %w", name, err)
	}
	if err == nil {
		return nil
	}
	if err := api.Create(ctx, namespace); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// applyRole makes the account with its rights.
func applyRole(ctx context.Context, api client.Client, namespace string) error {
	objects, err := role(namespace)
	if err != nil {
		return fmt.Errorf("config/member: %w", err)
	}
	for _, object := range objects {
		if err := apply(ctx, api, object); err != nil {
			return err
		}
	}
	return nil
}

// role reads config/member for a namespace.
func role(namespace string) ([]*unstructured.Unstructured, error) {
	content := bytes.ReplaceAll(memberrole.Role, []byte("@NAMESPACE@"), []byte(namespace))
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

func apply(ctx context.Context, api client.Client, object *unstructured.Unstructured) error {
	if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// requestToken asks the cluster for a token of the account.
func requestToken(ctx context.Context, api client.Client, namespace string) (string, error) {
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLifetime.Seconds()))},
	}
	if err := api.SubResource("token").Create(ctx, owner, request); err != nil {
		return "", fmt.Errorf("token of the account: %w", err)
	}
	return request.Status.Token, nil
}

// kubeconfig reaches the member by a token, with nothing outside of itself.
func (m *Member) kubeconfig(token string) ([]byte, error) {
	config := rest.CopyConfig(m.config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	content := clientcmdapi.NewConfig()
	content.Clusters[m.Name] = &clientcmdapi.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		CertificateAuthorityData: config.CAData,
	}
	content.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token}
	content.Contexts[m.Name] = &clientcmdapi.Context{Cluster: m.Name, AuthInfo: account}
	content.CurrentContext = m.Name
	return clientcmd.Write(*content)
}

// tryOut does with a kubeconfig what the operator does first.
func tryOut(ctx context.Context, kubeconfig []byte, namespace string) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return err
	}
	api, err := newClient(config)
	if err != nil {
		return err
	}
	// New rights take a moment to count everywhere.
	var last error
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, requestTimeout, true, func(ctx context.Context) (bool, error) {
		last = api.List(ctx, &appsv1.StatefulSetList{}, client.InNamespace(namespace), client.Limit(1))
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}
