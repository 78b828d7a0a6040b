// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/ports"
	"github.com/shardyard/shardyard/test/waiting"
)

// token makes a token of a service account.
func (c cluster) token(t *testing.T, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	var token authenticationv1.TokenRequest
	if err := c.SubResource("token").Create(t.Context(), account, &token); err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// serviceAccountConfig writes a kubeconfig of a service account and returns its
// path.
func (c cluster) serviceAccountConfig(t *testing.T, namespace, name string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: c.token(t, namespace, name)}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// operatorArguments are those of the chart's Deployment, but for what only makes
// sense in a pod.
func (c cluster) operatorArguments(t *testing.T, namespace, name, metricsAddress string) []string {
	t.Helper()
	var deployment appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &deployment); err != nil {
		t.Fatal(err)
	}
	arguments := slices.DeleteFunc(deployment.Spec.Template.Spec.Containers[0].Args, func(argument string) bool {
		return argument == "--leader-elect"
	})
	return append(arguments, "--metrics-bind-address="+metricsAddress, "--health-probe-bind-address=0")
}

// operator is a running operator.
type operator struct {
	command        *exec.Cmd
	log            output.Buffer
	metricsAddress string
	// ended is closed once it has ended, and end is how.
	ended chan struct{}
	end   error
}

// startOperator runs the operator with the rights of the chart's service
// account.
func (c cluster) startOperator(t *testing.T, namespace, name string) *operator {
	t.Helper()
	return c.runOperator(t, buildOperator(t), namespace, name)
}

// buildOperator builds the operator and returns its path.
func buildOperator(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "operator")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/operator")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, output)
	}
	return program
}

// runOperator runs it, at another address when somebody else takes that of its metrics
// before it does.
func (c cluster) runOperator(t *testing.T, program, namespace, name string) *operator {
	t.Helper()
	for {
		if o := c.beginOperator(t, program, namespace, name); o.servesMetrics(t) {
			return o
		}
	}
}

func (c cluster) beginOperator(t *testing.T, program, namespace, name string) *operator {
	t.Helper()
	// The end of the test kills it, if nothing has stopped it until then.
	o := &operator{metricsAddress: ports.Free(t), ended: make(chan struct{})}
	o.command = exec.CommandContext(t.Context(), program, c.operatorArguments(t, namespace, name, o.metricsAddress)...)
	o.command.Env = []string{"KUBECONFIG=" + c.serviceAccountConfig(t, namespace, name), "POD_NAMESPACE=" + namespace}
	o.command.Stderr = &o.log
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(o.ended)
		o.end = o.command.Wait()
	}()
	t.Cleanup(func() { <-o.ended })
	return o
}

// servesMetrics waits until the operator serves its metrics; false if it has ended because
// somebody else has their address.
func (o *operator) servesMetrics(t *testing.T) bool {
	t.Helper()
	serves := func() bool { return strings.Contains(o.log.String(), `"Serving metrics server"`) }
	waiting.Until(t, "the operator serves its metrics", func() bool {
		select {
		case <-o.ended:
			return true
		default:
			return serves()
		}
	})
	if serves() {
		return true
	}
	if !strings.Contains(o.log.String(), syscall.EADDRINUSE.Error()) {
		t.Fatalf("the operator ended: %v\n%s", o.end, o.log.String())
	}
	return false
}

// stop stops the operator, which was refused nothing.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	if err := o.command.Process.Signal(os.Interrupt); err != nil {
		t.Errorf("stop the operator: %v", err)
	}
	if <-o.ended; o.end != nil {
		t.Errorf("the operator ended badly: %v\n%s", o.end, o.log.String())
	}
	refused := slices.DeleteFunc(slices.Collect(strings.Lines(o.log.String())), func(line string) bool {
		return !strings.Contains(line, " is forbidden: ")
	})
	if len(refused) > 0 {
		t.Errorf("the operator was refused something %d times, first: %s", len(refused), refused[0])
	}
}

// metrics asks for the operator's metrics and returns the HTTP status and what
// there is to read.
func (o *operator) metrics(ctx context.Context, token string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+o.metricsAddress+"/metrics", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// Like the chart's PodMonitor.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// eventually waits until what is checked holds, and says what is missing when
// it never does.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			last = check(ctx)
			return last == nil, nil
		})
	if err != nil {
		t.Errorf("%v: %v", err, last)
	}
}
