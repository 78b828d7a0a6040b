// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// tracesNamespace is where the Jaeger is that testdata/quickstart.yaml names.
	tracesNamespace = "traces"
	jaegerImage     = "shardyard/jaeger:dev"
	// Ports that Jaeger takes spans, and answers queries, on.
	jaegerSpans, jaegerQueries = 4318, 16686
)

// startJaeger starts a Jaeger that keeps what it is sent in memory.
func (c *cluster) startJaeger(t *testing.T) {
	t.Helper()
	c.newNamespace(t, tracesNamespace, "restricted")
	meta := metav1.ObjectMeta{Namespace: tracesNamespace, Name: "jaeger", Labels: map[string]string{"app": "jaeger"}}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "jaeger", Image: jaegerImage,
			Args: []string{"--collector.otlp.enabled", "--memory.max-traces=10000"},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: meta.Labels, Ports: []corev1.ServicePort{{Port: jaegerSpans}},
	}}
	for _, object := range []client.Object{pod, service} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Delete(context.Background(), object, client.GracePeriodSeconds(0)); err != nil {
				t.Error(err)
			}
		})
	}
}

// testTraces reads in a Jaeger what the blocks of the network waited for.
func (n *network) testTraces(t *testing.T) {
	program := newProgram(t, "SHARDYARD", "HOME="+t.TempDir())
	address := n.tunnel(t, tracesNamespace, "jaeger", jaegerQueries)
	plan := n.plan(t)
	eventually(t, "traces of ten blocks", func(ctx context.Context) error {
		output, err := program.run(ctx, "", "trace", "critical-path", "--jaeger", "http://"+address,
			"--network", n.name, "--last", "50", "--rows", "3", "--output", "json")
		if err != nil {
			return err
		}
		var report trace.Report
		if err := json.Unmarshal([]byte(output), &report); err != nil {
			return err
		}
		switch {
		case report.Blocks < 10:
			return fmt.Errorf("there are %d: %+v", report.Blocks, report.Incomplete)
		case len(report.Nodes) != plan.Validators() || len(report.Regions) < 2 || len(report.Shards) != plan.Shards:
			return fmt.Errorf("they waited for %d nodes, %d regions and %d shards", len(report.Nodes), len(report.Regions), len(report.Shards))
		}
		return nil
	})
}
