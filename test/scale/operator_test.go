// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	operatorChart     = "../../charts/shardyard"
	operatorNamespace = "shardyard-system"
	// operatorName is that of the chart's release, Deployment and service
	// account.
	operatorName = "shardyard"
)

// operator is what it takes to run the operator's program, again and again.
type operator struct {
	program     string
	arguments   []string
	environment []string
	log         *os.File

	process *exec.Cmd
	ended   chan error
}

// installOperator installs the operator's chart without a pod of it, because
// pods run nothing here, and prepares to run the program with the rights of the
// chart's service account and the arguments of its Deployment.
func (c *cluster) installOperator(t *testing.T) *operator {
	t.Helper()
	c.helm(t, "install", operatorName, operatorChart, "--namespace", operatorNamespace, "--create-namespace",
		"--set", "replicas=0")
	log, err := os.Create(filepath.Join(t.TempDir(), "operator.log"))
	if err != nil {
		t.Fatal(err)
	}
	container := c.operatorContainer(t)
	o := &operator{
		program:   program(t, "OPERATOR"),
		arguments: operatorArguments(container),
		environment: []string{
			"KUBECONFIG=" + c.operatorConfig(t),
			"POD_NAMESPACE=" + operatorNamespace,
			// As the program sets by itself from the limit of a container, which it is in none of here.
			fmt.Sprintf("GOMEMLIMIT=%d", container.Resources.Limits.Memory().Value()*8/10),
		},
		log: log,
	}
	t.Cleanup(func() {
		// Of one that was stopped, errors that are about its log hold it.
		if o.process != nil {
			o.kill(t)
			if t.Failed() {
				t.Logf("the end of the operator's log:\n%s", o.lastWords())
			}
		}
		_ = log.Close()
	})
	return o
}

// operatorContainer is that of the chart's Deployment.
func (c *cluster) operatorContainer(t *testing.T) *corev1.Container {
	t.Helper()
	var deployment appsv1.Deployment
	key := client.ObjectKey{Namespace: operatorNamespace, Name: operatorName}
	if err := c.Get(t.Context(), key, &deployment); err != nil {
		t.Fatal(err)
	}
	return &deployment.Spec.Template.Spec.Containers[0]
}

// operatorArguments are those of its container, without what only makes sense in a
// pod.
func operatorArguments(container *corev1.Container) []string {
	arguments := slices.DeleteFunc(container.Args, func(argument string) bool {
		return argument == "--leader-elect"
	})
	return append(arguments, "--metrics-bind-address=0", "--health-probe-bind-address=0")
}

// operatorConfig writes a kubeconfig of the operator's service account and
// returns its path.
func (c *cluster) operatorConfig(t *testing.T) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
	var token authenticationv1.TokenRequest
	if err := c.SubResource("token").Create(t.Context(), account, &token); err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["scale"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["operator"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["scale"] = &clientcmdapi.Context{Cluster: "scale", AuthInfo: "operator"}
	config.CurrentContext = "scale"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (o *operator) start(t *testing.T) {
	t.Helper()
	// It outlives the subtest that starts it.
	o.process = exec.CommandContext(context.Background(), o.program, o.arguments...)
	o.process.Env = o.environment
	o.process.Stderr = o.log
	if err := o.process.Start(); err != nil {
		t.Fatalf("start the operator: %v", err)
	}
	ended := make(chan error, 1)
	go func(process *exec.Cmd) { ended <- process.Wait() }(o.process)
	o.ended = ended
}

// kill ends the operator without a chance to do anything.
func (o *operator) kill(t *testing.T) {
	t.Helper()
	if err := o.process.Process.Kill(); err != nil {
		t.Errorf("kill the operator: %v", err)
	}
	var exit *exec.ExitError
	if err := <-o.ended; !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("the operator ended by itself: %v", err)
	}
	o.process = nil
}

// stop ends the operator as a cluster does.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	if err := o.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stop the operator: %v", err)
	}
	select {
	case err := <-o.ended:
		if err != nil {
			t.Errorf("the operator ended with %v; the end of its log:\n%s", err, o.lastWords())
		}
	case <-time.After(30 * time.Second):
		t.Errorf("the operator does not stop within 30 s; the end of its log:\n%s", o.lastWords())
		o.kill(t)
	}
	o.process = nil
}

// peakMemoryMebibytes is the most memory that the operator had resident.
func (o *operator) peakMemoryMebibytes(t *testing.T) float64 {
	t.Helper()
	content := o.readProc(t, "status")
	for line := range strings.Lines(content) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "VmHWM:" {
			kibibytes, err := strconv.ParseFloat(words[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kibibytes / 1024
		}
	}
	t.Fatalf("no VmHWM in %s", content)
	return 0
}

// cpuSeconds is the processor time that the operator took since it started.
func (o *operator) cpuSeconds(t *testing.T) float64 {
	t.Helper()
	// The name, in parentheses, is the one field that may hold spaces.
	_, fields, _ := strings.Cut(o.readProc(t, "stat"), ") ")
	words := strings.Fields(fields)
	var ticks float64
	for _, word := range words[11:13] {
		value, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += value
	}
	return ticks / ticksPerSecond
}

// ticksPerSecond is Linux's unit of processor times in /proc on every platform
// that Go supports.
const ticksPerSecond = 100

func (o *operator) readProc(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", o.process.Process.Pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// refusals are the lines of the operator's log about rights that it lacks.
func (o *operator) refusals(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(o.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	var refusals []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, "forbidden") {
			refusals = append(refusals, line)
		}
	}
	return refusals
}

func (o *operator) lastWords() []byte {
	content, err := os.ReadFile(o.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-50):], nil)
}
