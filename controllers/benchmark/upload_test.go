// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// toBucket has the result go to a bucket.
func toBucket(spec *v1alpha1.BenchmarkSpec) {
	spec.Upload = &v1alpha1.BenchmarkUpload{URL: "s3://kept/nightly?region=eu-central-1", SecretName: "writer"}
}

// untilUploads waits until the result is made, and a pod uploads it.
func (c *cluster) untilUploads() *corev1.Pod {
	c.t.Helper()
	c.until("the uploader", func() bool { return c.pod("bench-uploader") != nil })
	return c.pod("bench-uploader")
}

// warned says whether an event warns with these words.
func (c *cluster) warned(words string) bool {
	for len(c.events.Events) > 0 {
		if said := <-c.events.Events; strings.HasPrefix(said, "Warning ") && strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// A result goes to its bucket once it is made, by a pod of its own that alone has the
// credentials, and the status says where it is.
func TestUploadedResults(t *testing.T) {
	t.Parallel()
	c := newCluster(t, toBucket)
	c.uploadedTo = "s3://kept/nightly/bench/20261121T120000.000000000Z?region=eu-central-1"
	uploader := c.untilUploads()
	if from := uploader.Spec.Containers[0].EnvFrom; len(from) != 1 || from[0].SecretRef.Name != "writer" {
		t.Errorf("its environment is of %+v", from)
	}
	if !metav1.IsControlledBy(uploader, c.benchmark) || c.pod("bench-judge").Status.Phase != corev1.PodSucceeded {
		t.Errorf("it is %+v", uploader.ObjectMeta)
	}
	if !c.get(&networkingv1.NetworkPolicy{}, "bench-uploader") {
		t.Error("it reaches everybody")
	}
	if c.status().Phase != v1alpha1.BenchmarkJudging || c.status().ArtifactURL != "" {
		t.Errorf("meanwhile, the benchmark is %s with %s", c.status().Phase, c.status().ArtifactURL)
	}
	// One that somebody deletes is made again: it finds what is there.
	c.must(c.client.Delete(t.Context(), uploader))
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if c.status().ArtifactURL != c.uploadedTo || c.status().Artifact == nil {
		t.Errorf("the status is %+v", c.status())
	}
	if !meta.IsStatusConditionTrue(c.status().Conditions, v1alpha1.ConditionUploaded) {
		t.Errorf("the conditions are %+v", c.status().Conditions)
	}
	if !slices.ContainsFunc(c.told, func(words string) bool { return strings.Contains(words, "is uploaded") }) {
		t.Errorf("nobody was told: %q", c.told)
	}
}

// A machine that is drained takes the pod along that made the result and had ended. The
// benchmark has its result all the same.
func TestDrainedWhileUploading(t *testing.T) {
	t.Parallel()
	c := newCluster(t, toBucket)
	c.uploadedTo = "s3://kept/nightly/bench/1"
	c.start(c.untilUploads())
	first := c.pod("bench-judge")
	c.must(c.client.Delete(t.Context(), first, client.GracePeriodSeconds(0)))
	c.clock = c.clock.Add(9 * time.Minute)
	c.reconcile()
	if c.pod("bench-judge") != nil {
		t.Error("the result is written while it is uploaded")
	}
	c.clock = c.clock.Add(2 * time.Minute)
	c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonUploadFailed, "did not end within 10m0s: its pod is Running")
	if judge := c.pod("bench-judge"); judge == nil || judge.UID == first.UID || len(c.status().Verdict) == 0 || c.status().Artifact == nil {
		t.Errorf("the result is made by %+v, and the status %+v", judge, c.status())
	}
}

// A pod that its machine has no room for is made again, and its benchmark goes on.
func TestEvictedJudges(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.until("the judge", func() bool { return c.pod("bench-judge") != nil })
	evicted := c.pod("bench-judge")
	evicted.Status.Phase, evicted.Status.Reason = corev1.PodFailed, "Evicted"
	evicted.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	c.must(c.client.Status().Update(t.Context(), evicted))
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if judge := c.pod("bench-judge"); judge == nil || judge.UID == evicted.UID {
		t.Errorf("it is made by %+v", judge)
	}
}

// A result that is not in its bucket is said, and is on its volume.
func TestFailedUploads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail func(c *cluster, uploader *corev1.Pod)
		want string
	}{
		"refused credentials": {
			func(c *cluster, uploader *corev1.Pod) {
				c.end(uploader, 1, "error: write s3://kept/nightly/bench/1/blocks.csv: the bucket refuses these credentials: InvalidAccessKeyId")
			},
			"the result is not in its bucket: it ended with exit code 1: error: write s3://kept/nightly/bench/1/blocks.csv: " +
				"the bucket refuses these credentials: InvalidAccessKeyId",
		},
		"no Secret": {
			func(c *cluster, uploader *corev1.Pod) {
				uploader.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: uploader.Spec.Containers[0].Name,
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
						Reason: "CreateContainerConfigError", Message: `secret "writer" not found`,
					}},
				}}
				c.must(c.client.Status().Update(c.t.Context(), uploader))
				c.clock = c.clock.Add(11 * time.Minute)
			},
			`did not end within 10m0s: CreateContainerConfigError: secret "writer" not found`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, toBucket)
			test.fail(c, c.untilUploads())
			c.reconcile()
			if ready := c.ready(); !c.ended() || c.status().Phase != v1alpha1.BenchmarkFailed ||
				ready.Reason != v1alpha1.ReasonUploadFailed || !strings.Contains(ready.Message, test.want) {
				t.Errorf("the benchmark is %s: %+v, want %q", c.status().Phase, ready, test.want)
			}
			if status := c.status(); status.ArtifactURL != "" || status.Artifact == nil ||
				len(status.Verdict) == 0 || status.TransfersPerSecond == nil {
				t.Errorf("the status is %+v", status)
			}
			if !meta.IsStatusConditionFalse(c.status().Conditions, v1alpha1.ConditionUploaded) {
				t.Errorf("the conditions are %+v", c.status().Conditions)
			}
			if !c.warned(v1alpha1.ReasonUploadFailed) {
				t.Error("no event warns of it")
			}
			// Nobody uploads it later.
			c.collect()
			c.checkNothingRuns()
		})
	}
}
