// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// runCheck runs a check and returns what it prints.
func runCheck(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout bytes.Buffer
	command := newCommand()
	command.SetArgs(append([]string{"check"}, args...))
	command.SetOut(&stdout)
	err := command.ExecuteContext(t.Context())
	return stdout.String(), err
}

// lead keeps the operators' lease until the function that it returns is called.
func lead(t *testing.T) (stop func()) {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	leads := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: leaderElectionID},
			Client:     clientset.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "one"},
		},
		LeaseDuration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leads) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var leading sync.WaitGroup
	leading.Go(func() { elector.Run(ctx) })
	stop = func() {
		cancel()
		leading.Wait()
	}
	t.Cleanup(stop)
	select {
	case <-leads:
	case <-time.After(time.Minute):
		t.Fatal("nobody leads")
	}
	return stop
}

// useCluster has commands find this API server.
func useCluster(t *testing.T, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = cluster
	config.AuthInfos["test"] = user
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	t.Setenv("POD_NAMESPACE", metav1.NamespaceDefault)
}

// An API server that does not answer is awaited for no longer than anything else.
func TestCheckOperatorInTime(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	defer server.Close()
	defer close(ended)
	useCluster(t, &clientcmdapi.Cluster{Server: server.URL}, &clientcmdapi.AuthInfo{})
	began := time.Now()
	_, err := runCheck(t, "operator", "--timeout", "1s")
	if err == nil || !strings.HasPrefix(err.Error(), "list networks: ") {
		t.Errorf("it says %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// An operator is checked by its lease: one that is kept, and not one that is only
// there.
func TestCheckOperator(t *testing.T) {
	useCluster(t, &clientcmdapi.Cluster{Server: apiServer.Host, CertificateAuthorityData: apiServer.CAData},
		&clientcmdapi.AuthInfo{ClientCertificateData: apiServer.CertData, ClientKeyData: apiServer.KeyData})
	refused := func(want string) {
		t.Helper()
		if _, err := runCheck(t, "operator", "--timeout", "8s"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q", err, want)
		}
	}

	refused(`"operator.shardyard.dev" not found`)
	stop := lead(t)
	if printed, err := runCheck(t, "operator"); err != nil || printed != "the operator one leads\n" {
		t.Errorf("it prints %q (%v)", printed, err)
	}
	if printed, err := runCheck(t, "operator", "--watch-namespace=default"); err != nil || printed != "the operator one leads\n" {
		t.Errorf("of one namespace it prints %q (%v)", printed, err)
	}
	stop()
	refused("the operator one does not renew its lease")
}

// A network is checked by a block that becomes final meanwhile.
func TestCheckNetwork(t *testing.T) {
	var height atomic.Uint64
	var moves atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if moves.Load() {
			height.Add(1)
		}
		_, _ = fmt.Fprintf(w, `{"network": "net", "finalizedHeight": %d}`, height.Load())
	}))
	defer server.Close()
	address := server.Listener.Addr().String()

	_, err := runCheck(t, "network", "--address", address, "--timeout", "5s")
	if want := "not within 5s: network net stands at height 0"; err == nil || err.Error() != want {
		t.Errorf("of one that stands still it says %v, want %q", err, want)
	}
	moves.Store(true)
	printed, err := runCheck(t, "network", "--address", address)
	if err != nil || !strings.HasPrefix(printed, "network net finalised height ") {
		t.Errorf("of one that goes on it prints %q (%v)", printed, err)
	}
}
