// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/test/buckets"
)

// A pod that no machine takes ends a run in the end, as one that takes too long does.
func TestPodsThatWaitForever(t *testing.T) {
	y := newYard(t, buckets.Serve(t).URL("kept"))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-"}}
	y.must(y.client.Create(t.Context(), namespace))
	y.options.Namespace, y.options.Deadline, y.options.poll = namespace.Name, time.Second, time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := begin(ctx, &y.options)
	y.must(err)
	err = r.place(ctx, r.NewContentsServer("0"))
	if err == nil || !strings.Contains(err.Error(), "is Pending, for longer than the 1s that it may take") {
		t.Errorf("the error is %v", err)
	}
}

// A pod that failed says why, or its status does.
func TestLastWords(t *testing.T) {
	t.Parallel()
	ended := func(terminated corev1.ContainerStateTerminated) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &terminated}}}
	}
	for want, status := range map[string]corev1.PodStatus{
		"the disk is broken": {
			ContainerStatuses: ended(corev1.ContainerStateTerminated{Reason: "Error", Message: "error: the disk is broken\n"}),
		},
		"it was evicted": {
			Message: "it was evicted", ContainerStatuses: ended(corev1.ContainerStateTerminated{Reason: "Error"}),
		},
		"it ended as OOMKilled": {Phase: corev1.PodFailed, ContainerStatuses: ended(corev1.ContainerStateTerminated{Reason: "OOMKilled"})},
		"it ended as Failed":    {Phase: corev1.PodFailed},
	} {
		if got := lastWords(&corev1.Pod{Status: status}); got != want {
			t.Errorf("the last words are %q, want %q", got, want)
		}
	}
}
