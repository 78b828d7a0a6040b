// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/test/waiting"
)

// far is the name of the member cluster that tests have.
const far = "far"

// member is the same namespace of another API server, and the way to it.
type member struct {
	*cluster
	config *rest.Config
	gate   *gate
}

// joinMember makes a member of another API server, with the rights that members
// give to the operator, and the Secret that names it.
func (c *cluster) joinMember() *member {
	c.t.Helper()
	m := c.newMember(memberServer)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
	if err := m.client.Create(c.t.Context(), namespace); err != nil {
		c.t.Fatal(err)
	}
	m.grantRights()
	secret := m.secret()
	if err := c.client.Create(c.t.Context(), secret); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// newMember is the namespace of the same name in another cluster.
func (c *cluster) newMember(config *rest.Config) *member {
	c.t.Helper()
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		c.t.Fatal(err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	return &member{
		cluster: &cluster{t: c.t, namespace: c.namespace, client: direct},
		config:  config,
		gate:    newGate(c.t, server.Host),
	}
}

// secret is the one that names the member.
func (m *member) secret() *corev1.Secret {
	m.t.Helper()
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: far},
		Data: map[string][]byte{
			fleet.KeyKubeconfig: m.kubeconfig(),
			fleet.KeyDomain:     []byte("far.example"),
		},
	}
}

// uid tells the cluster from others.
func (m *member) uid() string {
	m.t.Helper()
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}}
	m.read(system)
	return string(system.UID)
}

// grantRights makes what config/member says, and waits until the API server acts by it: it
// learns of rights a little after it has them.
func (m *member) grantRights() {
	m.t.Helper()
	m.createRights()
	waiting.Until(m.t, "the operator's account has its rights", func() bool { return m.mayWork() && m.mayIdentify() })
}

// mayWork says whether the operator's account has its rights in the namespace.
func (m *member) mayWork() bool {
	m.t.Helper()
	return m.may(authorizationv1.ResourceAttributes{
		Namespace: m.namespace, Verb: "list", Group: appsv1.GroupName, Resource: "statefulsets",
	})
}

// mayIdentify says whether it has those outside of the namespace.
func (m *member) mayIdentify() bool {
	m.t.Helper()
	return m.may(authorizationv1.ResourceAttributes{Verb: "get", Resource: "namespaces", Name: metav1.NamespaceSystem})
}

// may says whether the API server lets the operator's account make a request now.
func (m *member) may(request authorizationv1.ResourceAttributes) bool {
	m.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + m.namespace + ":shardyard-member", ResourceAttributes: &request,
	}}
	if err := m.client.Create(m.t.Context(), review); err != nil {
		m.t.Fatal(err)
	}
	return review.Status.Allowed
}

func (m *member) createRights() {
	m.t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "member", "role.yaml"))
	if err != nil {
		m.t.Fatal(err)
	}
	content = bytes.ReplaceAll(content, []byte("@NAMESPACE@"), []byte(m.namespace))
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			m.t.Fatal(err)
		}
		err = m.client.Create(m.t.Context(), object)
		// Tests share the rights that have no namespace.
		if _, shared := object.Object["rules"]; shared && object.GetNamespace() == "" {
			err = client.IgnoreAlreadyExists(err)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// kubeconfig is that of the operator's account in the member, by way of the
// gate.
func (m *member) kubeconfig() []byte {
	m.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "shardyard-member"}}
	var token authenticationv1.TokenRequest
	if err := m.client.SubResource("token").Create(m.t.Context(), account, &token); err != nil {
		m.t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[far] = &clientcmdapi.Cluster{
		Server:                   (&url.URL{Scheme: "https", Host: m.gate.address()}).String(),
		CertificateAuthorityData: m.config.CAData,
	}
	config.AuthInfos[far] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[far] = &clientcmdapi.Context{Cluster: far, AuthInfo: far}
	config.CurrentContext = far
	content, err := clientcmd.Write(*config)
	if err != nil {
		m.t.Fatal(err)
	}
	return content
}

// takeRights takes from the operator's account what it may do in the namespace.
func (m *member) takeRights() {
	m.t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "shardyard-member"}}
	if err := m.client.Delete(m.t.Context(), binding); err != nil {
		m.t.Fatal(err)
	}
}

// hideIdentity takes from the operator's account what it may do outside of the
// namespace, and waits until it may not any more.
func (m *member) hideIdentity() {
	m.t.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "shardyard-member-" + m.namespace}}
	if err := m.client.Delete(m.t.Context(), binding); err != nil {
		m.t.Fatal(err)
	}
	waiting.Until(m.t, "the operator's account lacks its rights", func() bool { return !m.mayIdentify() })
}

// createSpanning makes the network of the quickstart with half of its nodes in
// the member.
func (c *cluster) createSpanning(changes ...func(*v1alpha1.ShardNetwork)) *v1alpha1.ShardNetwork {
	c.t.Helper()
	return c.create(append(changes, func(network *v1alpha1.ShardNetwork) {
		network.Spec.Regions = []v1alpha1.Region{{Name: "here", Nodes: 2}, {Name: "there", Nodes: 2, Cluster: far}}
	})...)
}

// gate passes connections on to an API server unless it is shut.
type gate struct {
	t        *testing.T
	listener net.Listener
	target   string

	lock  sync.Mutex
	shut  bool
	conns map[net.Conn]bool
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, listener: listener, target: target, conns: map[net.Conn]bool{}}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { g.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		g.set(true)
		group.Wait()
	})
	return g
}

func (g *gate) address() string { return g.listener.Addr().String() }

// set shuts or opens the gate. Connections end when it shuts.
func (g *gate) set(shut bool) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.shut = shut
	for conn := range g.conns {
		if shut {
			_ = conn.Close()
		}
	}
}

// keep says whether a connection may go on, and has it end when the gate shuts.
func (g *gate) keep(conn net.Conn) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.conns[conn] = true
	return !g.shut
}

func (g *gate) forget(conn net.Conn) {
	g.lock.Lock()
	defer g.lock.Unlock()
	delete(g.conns, conn)
	_ = conn.Close()
}

func (g *gate) pass(client net.Conn) {
	defer g.forget(client)
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", g.target)
	if err != nil {
		return
	}
	defer g.forget(server)
	if !g.keep(client) || !g.keep(server) {
		return
	}
	var group sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		group.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
			_ = pair[1].Close()
		})
	}
	group.Wait()
}

// eventually reconciles until what is checked holds: the operator's cache of a
// member learns of changes a little later.
func (c *cluster) eventually(network *v1alpha1.ShardNetwork, holds func() error) {
	c.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			if err := c.reconcile(network); err != nil {
				return false, err
			}
			last = holds()
			return last == nil, nil
		})
	if err != nil {
		c.t.Fatal(errors.Join(err, last))
	}
}
