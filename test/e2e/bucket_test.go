// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/test/buckets"
)

const (
	bucketNamespace = "buckets"
	bucketImage     = "shardyard/bucket:dev"
	bucketPort      = 9000
	bucketSecret    = "results-writer"
)

// startBucket starts a server in a namespace of its own that keeps a bucket in memory, and
// gives whoever uses it from another one the credentials. It says where the bucket is,
// within the cluster.
func (c *cluster) startBucket(t *testing.T, own, namespace string) (endpoint string) {
	t.Helper()
	c.newNamespace(t, own, "restricted")
	about := metav1.ObjectMeta{Namespace: own, Name: "bucket", Labels: map[string]string{"app": "bucket"}}
	pod := &corev1.Pod{ObjectMeta: about, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "bucket", Image: bucketImage, Args: []string{net.JoinHostPort("", strconv.Itoa(bucketPort))},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}}
	service := &corev1.Service{ObjectMeta: about, Spec: corev1.ServiceSpec{
		Selector: about.Labels, Ports: []corev1.ServicePort{{Port: bucketPort}},
	}}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: bucketSecret},
		StringData: map[string]string{"AWS_ACCESS_KEY_ID": buckets.KeyID, "AWS_SECRET_ACCESS_KEY": "secret"},
	}
	for _, object := range []client.Object{pod, service, secret} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Delete(context.Background(), object, client.GracePeriodSeconds(0)); err != nil {
				t.Error(err)
			}
		})
	}
	return fmt.Sprintf("http://bucket.%s.svc.cluster.local:%d", own, bucketPort)
}

// uploadTo is a place in the bucket of a server.
func uploadTo(endpoint string) *v1alpha1.BenchmarkUpload {
	return &v1alpha1.BenchmarkUpload{URL: inBucket(endpoint, "nightly"), SecretName: bucketSecret}
}

// inBucket is the URL of a place in the bucket of a server.
func inBucket(endpoint, prefix string) string {
	parameters := url.Values{"endpoint": {endpoint}, "region": {"e2e"}, "use_path_style": {"true"}}
	return "s3://" + buckets.Name + "/" + prefix + "?" + parameters.Encode()
}

// checkUploaded reads the result where the status says that it is, as a user would.
func (b *benchmark) checkUploaded(t *testing.T, endpoint string) {
	t.Helper()
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionUploaded) ||
		!strings.HasPrefix(b.Status.ArtifactURL, "s3://"+buckets.Name+"/nightly/"+b.Name+"/") {
		t.Errorf("the result is in %q: %+v", b.Status.ArtifactURL, b.Status.Conditions)
	}
	tunnel := "http://" + b.tunnel(t, bucketNamespace, "bucket", bucketPort)
	here := strings.Replace(b.Status.ArtifactURL, url.QueryEscape(endpoint), url.QueryEscape(tunnel), 1)
	shardyard := newProgram(t, "SHARDYARD", "HOME="+t.TempDir(), "AWS_ACCESS_KEY_ID="+buckets.KeyID, "AWS_SECRET_ACCESS_KEY=secret")
	if output := shardyard.mustRun(t, "report", "show", here); !strings.Contains(output, "Succeeded: ") {
		t.Errorf("the result says\n%s", output)
	}
}
