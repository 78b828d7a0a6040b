// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// reporterConfig is what the operator's chart has kube-state-metrics report.
const reporterConfig = operatorChart + "/files/kube-state-metrics.yaml"

// report starts a kube-state-metrics that reports the cluster's networks, and
// returns its address.
func (c *cluster) report(t *testing.T) string {
	t.Helper()
	config, err := filepath.Abs(reporterConfig)
	if err != nil {
		t.Fatal(err)
	}
	// It cannot be told to take any port, or not to serve metrics of its own.
	port, own := freePort(t), freePort(t)
	reporter := newProgram(t, "KUBE_STATE_METRICS", "HOME="+t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, reporter.path, "--kubeconfig", c.kubeconfig,
		"--custom-resource-state-config-file", config, "--custom-resource-state-only",
		"--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--telemetry-host", "127.0.0.1", "--telemetry-port", strconv.Itoa(own))
	command.Env = reporter.environment
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	var failure error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failure = command.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("kube-state-metrics says\n%s", &said)
		}
	})

	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	eventually(t, "kube-state-metrics to answer", func(ctx context.Context) error {
		select {
		case <-ended:
			t.Fatalf("it ended: %v", failure)
			return nil
		default:
			return answers(ctx, "http://"+address+"/metrics")
		}
	})
	return address
}

// answers says whether an address is served.
func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

// freePort is a port of the loopback interface that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address, isTCP := listener.Addr().(*net.TCPAddr)
	if !isTCP {
		t.Fatalf("the listener has the address %s", listener.Addr())
	}
	return address.Port
}
