// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

const (
	strangerNamespace = "stranger"
	friendNamespace   = "friend"
)

// testPolicy has pods connect to a validator: those in its namespace and in
// namespaces that are allowed to reach its HTTP API, and none of them its p2p and
// its admin API.
func (n *network) testPolicy(t *testing.T) {
	n.newNamespace(t, strangerNamespace, "privileged")
	n.newNamespace(t, friendNamespace, "privileged")
	n.kubectl.mustRun(t, "label", "--overwrite", "namespace", friendNamespace,
		resources.LabelNodeAccess+"="+resources.NodeAccessAllowed)
	plan := n.plan(t)
	address := n.mustPods(t)[resources.PodName(plan.Nodes[0].Name)].Status.PodIP
	attempts := []struct {
		namespace string
		port      int
		want      bool
		pod       *corev1.Pod
	}{
		{namespace: n.namespace, port: plan.Ports.HTTP, want: true},
		{namespace: friendNamespace, port: plan.Ports.HTTP, want: true},
		{namespace: strangerNamespace, port: plan.Ports.HTTP},
		{namespace: n.namespace, port: plan.Ports.P2P},
		{namespace: n.namespace, port: plan.Ports.Admin},
		{namespace: friendNamespace, port: plan.Ports.P2P},
		{namespace: friendNamespace, port: plan.Ports.Admin},
	}
	for i := range attempts {
		attempt := &attempts[i]
		attempt.pod = n.runCaller(t, attempt.namespace, net.JoinHostPort(address, strconv.Itoa(attempt.port)))
	}
	for _, attempt := range attempts {
		connects, said := n.callerConnects(t, attempt.pod)
		if connects != attempt.want {
			t.Errorf("that a pod in %s connects to port %d is %t, want %t: %s",
				attempt.namespace, attempt.port, connects, attempt.want, said)
		}
	}
}

// runCaller runs a pod that tries to connect to an address.
func (c *cluster) runCaller(t *testing.T, namespace, address string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "caller-"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name:                     "connect",
				Image:                    toolboxImage,
				Command:                  []string{"/bin/sh", "-c", "connect " + address},
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			}},
		},
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Error(err)
		}
	})
	return pod
}

// callerConnects waits for the end of a pod that tries to connect.
func (c *cluster) callerConnects(t *testing.T, pod *corev1.Pod) (connects bool, said string) {
	t.Helper()
	eventually(t, "the end of "+pod.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Terminated == nil {
			return fmt.Errorf("it is %s", pod.Status.Phase)
		}
		ended := pod.Status.ContainerStatuses[0].State.Terminated
		connects, said = ended.ExitCode == 0, ended.Message
		if !connects && !strings.HasPrefix(said, "connect:") {
			return errors.New("it failed by something else: " + said)
		}
		return nil
	})
	return connects, said
}
