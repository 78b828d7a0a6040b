// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/sweep"
)

// kubeconfig writes how to reach the API server.
func kubeconfig(t *testing.T) string {
	t.Helper()
	const name = "test"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: apiServer.Host, CertificateAuthorityData: apiServer.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: apiServer.CertData, ClientKeyData: apiServer.KeyData,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// disks are a namespace with disks of networks in it.
type disks struct {
	t          *testing.T
	kubeconfig string
	namespace  string
	client     client.Client
}

func newDisks(t *testing.T) *disks {
	t.Helper()
	path := kubeconfig(t)
	direct, err := (&clusterFlags{kubeconfig: path}).client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sweep-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return &disks{t: t, kubeconfig: path, namespace: namespace.Name, client: direct}
}

// claim makes the volume claim of a network's first validator.
func (d *disks) claim(network string) *corev1.PersistentVolumeClaim {
	d.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.namespace, Name: resources.ClaimName(network + "-s0-p0"), Labels: resources.NetworkLabels(network),
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: ptr.To("fast"),
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			},
		},
	}
	if err := d.client.Create(d.t.Context(), claim); err != nil {
		d.t.Fatal(err)
	}
	return claim
}

// volume makes one of a class that was kept when its claim went.
func (d *disks) volume(claim, class string) *corev1.PersistentVolume {
	d.t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + d.namespace + "-" + claim},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")},
			ClaimRef:                      &corev1.ObjectReference{Namespace: d.namespace, Name: claim},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}},
			StorageClassName:              class,
		},
	}
	if err := d.client.Create(d.t.Context(), volume); err != nil {
		d.t.Fatal(err)
	}
	volume.Status.Phase = corev1.VolumeReleased
	if err := d.client.Status().Update(d.t.Context(), volume); err != nil {
		d.t.Fatal(err)
	}
	return volume
}

// bind makes a volume of a claim that would be kept when the claim goes.
func (d *disks) bind(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	d.t.Helper()
	volume := d.volume(claim.Name, *claim.Spec.StorageClassName)
	volume.Spec.ClaimRef.UID = claim.UID
	if err := d.client.Update(d.t.Context(), volume); err != nil {
		d.t.Fatal(err)
	}
	volume.Status.Phase = corev1.VolumeBound
	if err := d.client.Status().Update(d.t.Context(), volume); err != nil {
		d.t.Fatal(err)
	}
	claim.Spec.VolumeName = volume.Name
	if err := d.client.Update(d.t.Context(), claim); err != nil {
		d.t.Fatal(err)
	}
	return volume
}

// sweep runs the command on the namespace and returns the disks that it lists.
func (d *disks) sweep(args ...string) []string {
	d.t.Helper()
	var found []sweep.Leftover
	out := d.print(args...)
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		d.t.Fatalf("%v in %s", err, out)
	}
	var names []string
	for _, leftover := range found {
		names = append(names, leftover.Name)
	}
	return names
}

// print runs the command on the namespace and returns the JSON that it prints.
func (d *disks) print(args ...string) string {
	d.t.Helper()
	return shardyard(d.t, append([]string{"sweep", "--kubeconfig", d.kubeconfig, "-n", d.namespace, "-o", "json"}, args...)...)
}

func (d *disks) check(got []string, want ...string) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Errorf("the disks are %q, want %q", got, want)
	}
}

// What belongs to a network that is there is no business of anybody's; the rest
// is listed, and deleted only when asked for.
func TestSweep(t *testing.T) {
	t.Parallel()
	disks := newDisks(t)
	network, err := manifest.Read(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	network.Namespace = disks.namespace
	if err := disks.client.Create(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	disks.claim(network.Name)
	left, other := disks.claim("left"), disks.claim("other")
	class := "shardyard." + disks.namespace + ".kept"
	kept := disks.volume("data-kept-s0-p0-0", class)

	bound := disks.bind(left)

	disks.check(disks.sweep(), kept.Name, left.Name, other.Name)
	disks.check(disks.sweep("--network", "left"), left.Name)
	table := shardyard(t, "sweep", "--kubeconfig", disks.kubeconfig, "-n", disks.namespace)
	for _, want := range []string{
		`NAMESPACE +NETWORK +KIND +NAME +SIZE +CLASS +STATE +AGE`,
		disks.namespace + ` +left +PersistentVolumeClaim +data-left-s0-p0-0 +10Gi +fast +Pending +\d+s`,
		disks.namespace + ` +kept +PersistentVolume +` + kept.Name + ` +20Gi +` + class + ` +Released +\d+s`,
	} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("no line of the table is like %s:\n%s", want, table)
		}
	}

	disks.check(disks.sweep("--network", "left", "--delete"), left.Name)
	disks.release(left)
	disks.checkPolicy(bound, corev1.PersistentVolumeReclaimDelete)
	disks.check(disks.sweep(), kept.Name, other.Name)
	disks.check(disks.sweep("--delete"), kept.Name, other.Name)
	// The cluster deletes the disk with the volume, not the volume from over it.
	disks.checkPolicy(kept, corev1.PersistentVolumeReclaimDelete)
	disks.checkStuck(kept)

	if err := disks.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	disks.check(disks.sweep("--network", network.Name), "data-quickstart-s0-p0-0")
}

// checkPolicy expects a volume to be there, with a reclaim policy.
func (d *disks) checkPolicy(volume *corev1.PersistentVolume, want corev1.PersistentVolumeReclaimPolicy) {
	d.t.Helper()
	if err := d.client.Get(d.t.Context(), client.ObjectKeyFromObject(volume), volume); err != nil {
		d.t.Fatal(err)
	}
	if policy := volume.Spec.PersistentVolumeReclaimPolicy; policy != want || volume.DeletionTimestamp != nil {
		d.t.Errorf("the volume %s has the policy %s and is deleted at %v", volume.Name, policy, volume.DeletionTimestamp)
	}
}

// checkStuck expects that whoever wants a volume deleted is told if that cannot be.
func (d *disks) checkStuck(volume *corev1.PersistentVolume) {
	d.t.Helper()
	volume.Status.Phase = corev1.VolumeFailed
	if err := d.client.Status().Update(d.t.Context(), volume); err != nil {
		d.t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(d.t.Context(), []string{"shardyard", "sweep", "--kubeconfig", d.kubeconfig, "-n", d.namespace, "--delete"}, &stdout, &stderr)
	want := "error: delete PersistentVolume " + volume.Name + ": its provisioner is to delete it already, and could not: see its events\n"
	if code != 1 || stderr.String() != want {
		d.t.Errorf("it exits with %d and says %q, want %q", code, &stderr, want)
	}
}

// A volume of which only its claim's name says that it was a network's may be anybody's: it
// is listed with a mark, and deleted only for who names the network and its namespace.
func TestSweepOfNames(t *testing.T) {
	t.Parallel()
	disks := newDisks(t)
	archive := disks.volume("data-postgres-v15-0", "fast")
	named, here := []string{"--network", "postgres"}, []string{"--namespace", disks.namespace}
	left := "PersistentVolume " + archive.Name + " is left: only its claim's name says whose it was; to delete it: " +
		"shardyard sweep --namespace " + disks.namespace + " --network postgres --delete\n"
	for _, narrowed := range [][]string{named, here} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"shardyard", "sweep", "--kubeconfig", disks.kubeconfig, "--delete"}, narrowed...)
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.String() != left {
			t.Errorf("%v exits with %d and says %q, want %q", args, code, &stderr, left)
		}
		line := disks.namespace + ` +postgres\? +PersistentVolume +` + archive.Name
		if !regexp.MustCompile(line).MatchString(stdout.String()) {
			t.Errorf("no line of the table is like %s:\n%s", line, &stdout)
		}
		disks.checkPolicy(archive, corev1.PersistentVolumeReclaimRetain)
	}
	if out := disks.print("--network", "postgres", "--delete"); !strings.Contains(out, `"byNameOnly": true`) {
		t.Errorf("prints %s", out)
	}
	disks.checkPolicy(archive, corev1.PersistentVolumeReclaimDelete)
}

// The disks of a restore are listed, and deleted only for who names the network and its
// namespace, to give it up.
func TestSweepOfARestore(t *testing.T) {
	t.Parallel()
	disks := newDisks(t)
	claim := disks.claim("back")
	document := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: disks.namespace, Name: resources.GenesisName("back"), Labels: resources.NetworkLabels("back"),
		Annotations: map[string]string{resources.AnnotationRestore: "a-b back-s0-p0"},
	}}
	if err := disks.client.Create(t.Context(), document); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"shardyard", "sweep", "--kubeconfig", disks.kubeconfig, "-n", disks.namespace, "--delete"}
	left := "PersistentVolumeClaim " + claim.Name + " is left: its network is being restored; to give that up and delete it: " +
		"shardyard sweep --namespace " + disks.namespace + " --network back --delete\n"
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.String() != left {
		t.Errorf("%v exits with %d and says %q, want %q", args, code, &stderr, left)
	}
	line := disks.namespace + ` +back +PersistentVolumeClaim +` + claim.Name + ` +10Gi +fast +Restoring`
	if !regexp.MustCompile(line).MatchString(stdout.String()) {
		t.Errorf("no line of the table is like %s:\n%s", line, &stdout)
	}
	if err := disks.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil || claim.DeletionTimestamp != nil {
		t.Errorf("the claim is read with the error %v, and is deleted at %v", err, claim.DeletionTimestamp)
	}
	if out := disks.print("--network", "back", "--delete"); !strings.Contains(out, `"restoring": true`) {
		t.Errorf("prints %s", out)
	}
	disks.release(claim)
}

// release takes the finalizer away that a claim keeps until no pod uses it, and
// expects it to go.
func (d *disks) release(claim *corev1.PersistentVolumeClaim) {
	d.t.Helper()
	key := client.ObjectKeyFromObject(claim)
	if err := d.client.Get(d.t.Context(), key, claim); err == nil {
		if claim.DeletionTimestamp == nil {
			d.t.Errorf("%s is not deleted", claim.Name)
		}
		claim.Finalizers = nil
		if err := d.client.Update(d.t.Context(), claim); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := d.client.Get(d.t.Context(), key, claim); !apierrors.IsNotFound(err) {
		d.t.Errorf("%s is still there: %v", claim.Name, err)
	}
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	disks := newDisks(t)
	got := shardyard(t, "sweep", "--kubeconfig", disks.kubeconfig, "-n", disks.namespace, "--delete")
	if want := "no disk outlived its network\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	out := shardyard(t, "sweep", "--kubeconfig", disks.kubeconfig, "-n", disks.namespace, "-o", "json")
	if strings.TrimSpace(out) != "[]" {
		t.Errorf("prints %q, want an empty list", out)
	}
}

// Whoever may not look at disks is not told that there are none.
func TestSweepRefused(t *testing.T) {
	t.Parallel()
	disks := newDisks(t)
	config, err := clientcmd.LoadFromFile(disks.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos["test"].Impersonate = "nobody"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	lines := shardyardFails(t, "sweep", "--kubeconfig", path, "-n", disks.namespace)
	if len(lines) != 1 || !strings.Contains(lines[0], `cannot list resource "persistentvolumes"`) {
		t.Errorf("prints %q", lines)
	}
}
