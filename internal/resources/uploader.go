// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// NameUploader is the name, as in LabelName, of the pod that uploads a result. What
	// others of the benchmark reach, it does not, and they do not reach what it does.
	NameUploader = "benchmark-uploader"

	volumeCredentials = "credentials"
	credentialsDir    = "/etc/shardyard-credentials"
	// credentialsFile is the key of a Secret that has the key of a service account.
	credentialsFile = "credentials.json"

	schemeGS  = "gs"
	httpsPort = 443
	// gkeMetadataPort is where pods of some clusters of Google ask who they are, beside
	// httpPort.
	gkeMetadataPort = 988
	// metadataRange has the addresses where the clouds tell a pod who it is.
	metadataRange = "169.254.0.0/16"
)

// UploaderName is the pod that uploads the result of a benchmark, and its NetworkPolicy.
func UploaderName(benchmark string) string { return benchmark + "-uploader" }

// NewUploader is the pod that puts the result of a benchmark into its bucket. It alone has
// the credentials for it, and reads nothing but the result. Without a Secret, it is
// whoever the cloud takes it for.
func NewUploader(benchmark *v1alpha1.Benchmark, inputs RecorderInputs) *corev1.Pod {
	upload := benchmark.Spec.Upload
	pod := benchmarkPod(benchmark, UploaderName(benchmark.Name), inputs.Image, []string{
		"upload-artifact",
		"--artifact=" + artifactDir,
		"--url=" + upload.URL,
		"--summary=" + corev1.TerminationMessagePathDefault,
	})
	setMemory(pod, allRows(&benchmark.Spec, inputs.MinBlockTimeMilliseconds))
	pod.Labels[LabelName] = NameUploader
	pod.Spec.ServiceAccountName = upload.ServiceAccountName
	container := &pod.Spec.Containers[0]
	container.VolumeMounts = slices.DeleteFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
		return mount.Name != volumeRecords
	})
	container.VolumeMounts[0].ReadOnly = true
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name != volumeRecords })
	addCredentials(pod, upload.URL, upload.SecretName)
	return pod
}

// newUploaderPolicy closes the uploader to everybody, and lets it reach its bucket.
func newUploaderPolicy(benchmark *v1alpha1.Benchmark) *networkingv1.NetworkPolicy {
	upload := benchmark.Spec.Upload
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: ofBenchmark(benchmark, UploaderName(benchmark.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{LabelName: NameUploader, LabelBenchmark: benchmark.Name}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      bucketEgress(upload.URL, upload.SecretName),
		},
	}
}

// addCredentials gives a pod those of a bucket, if a Secret has them: without one, it is
// whoever the cloud takes it for.
func addCredentials(pod *corev1.Pod, url, secret string) {
	container := &pod.Spec.Containers[0]
	switch {
	case secret == "":
	case strings.HasPrefix(url, schemeGS+":"):
		container.Env = []corev1.EnvVar{{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: path.Join(credentialsDir, credentialsFile)}}
		container.VolumeMounts = append(container.VolumeMounts,
			corev1.VolumeMount{Name: volumeCredentials, MountPath: credentialsDir, ReadOnly: true})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: volumeCredentials,
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: secret,
				Items:      []corev1.KeyToPath{{Key: credentialsFile, Path: credentialsFile}},
			}},
		})
	default:
		container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		}}}
	}
}

// bucketEgress lets a pod reach its bucket, names resolved, and, without a Secret, where
// its cloud tells it who it is. The bucket is a name, which policies do not know, so its
// port is open to everybody, unless it is at an address.
func bucketEgress(url, secret string) []networkingv1.NetworkPolicyEgressRule {
	host, port := bucketServer(url)
	reached := networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, port)}}
	if address, err := netip.ParseAddr(host); err == nil {
		reached.To = addressPeers([]string{netip.PrefixFrom(address, address.BitLen()).String()})
	}
	egress := []networkingv1.NetworkPolicyEgressRule{reached, nameResolution()}
	if secret == "" {
		egress = append(egress, networkingv1.NetworkPolicyEgressRule{
			To: addressPeers([]string{metadataRange}),
			Ports: []networkingv1.NetworkPolicyPort{
				policyPort(corev1.ProtocolTCP, httpPort), policyPort(corev1.ProtocolTCP, gkeMetadataPort),
			},
		})
	}
	return egress
}

// bucketServer is the host and the port of the server of a bucket: of a cloud's, which
// has many names, the port alone.
func bucketServer(bucket string) (host string, port int) {
	parsed, err := url.Parse(bucket)
	if err != nil {
		return "", httpsPort
	}
	endpoint, err := url.Parse(parsed.Query().Get("endpoint"))
	if err != nil || endpoint.Host == "" {
		return "", httpsPort
	}
	if given, err := strconv.ParseUint(endpoint.Port(), 10, 16); err == nil {
		return endpoint.Hostname(), int(given)
	}
	if endpoint.Scheme == "http" {
		return endpoint.Hostname(), httpPort
	}
	return endpoint.Hostname(), httpsPort
}
