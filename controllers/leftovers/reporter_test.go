// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// lab is a cluster with the disks of a network that is gone.
type lab struct {
	t        *testing.T
	reporter *Reporter
	recorder *events.FakeRecorder
	registry *prometheus.Registry
	cluster  client.WithWatch
	// refuse is what every request gets, if not nil.
	refuse error
}

func newLab(t *testing.T) *lab {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	l := &lab{t: t, recorder: events.NewFakeRecorder(10), registry: prometheus.NewRegistry()}
	l.cluster = fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if l.refuse != nil {
				return l.refuse
			}
			return next.List(ctx, list, options...)
		},
	}).Build()
	gauges := newGauges()
	if err := l.registry.Register(gauges); err != nil {
		t.Fatal(err)
	}
	l.reporter = &Reporter{reader: l.cluster, recorder: l.recorder, gauges: gauges, logger: logr.Discard()}
	return l
}

// claim makes the claim of a validator.
func (l *lab) claim(network, validator string) *corev1.PersistentVolumeClaim {
	l.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: resources.ClaimName(validator), UID: types.UID(validator),
			Labels: resources.NetworkLabels(network),
		},
		Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ki")},
		}},
	}
	if err := l.cluster.Create(l.t.Context(), claim); err != nil {
		l.t.Fatal(err)
	}
	return claim
}

// volume makes a volume of a claim; with the UID of none, that one is gone.
func (l *lab) volume(name, claim string, uid types.UID) *corev1.PersistentVolume {
	l.t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ki")},
			ClaimRef: &corev1.ObjectReference{Namespace: "default", Name: claim, UID: uid},
		},
	}
	if err := l.cluster.Create(l.t.Context(), volume); err != nil {
		l.t.Fatal(err)
	}
	return volume
}

// release says of a volume that its claim is gone.
func (l *lab) release(volume *corev1.PersistentVolume) {
	l.t.Helper()
	volume.Status.Phase = corev1.VolumeReleased
	if err := l.cluster.Status().Update(l.t.Context(), volume); err != nil {
		l.t.Fatal(err)
	}
}

// look has the reporter look once, and returns what it then tells.
func (l *lab) look() (metrics, told []string) {
	l.t.Helper()
	l.reporter.look(l.t.Context())
	families, err := l.registry.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			metrics = append(metrics, fmt.Sprintf("%s %s %v",
				family.GetName(), strings.Join(labels, "/"), metric.GetGauge().GetValue()))
		}
	}
	slices.Sort(metrics)
	for len(l.recorder.Events) > 0 {
		told = append(told, <-l.recorder.Events)
	}
	return metrics, told
}

func (l *lab) check(what string, got []string, want ...string) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Errorf("the %s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is left is told once it was there twice, by an event once and by metrics
// as long as it is there.
func TestReporter(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	first := lab.claim("old", "old-s0-p0")
	lab.claim("old", "old-s0-p1")
	metrics, told := lab.look()
	lab.check("metrics", metrics)
	lab.check("events", told)

	const event = "Warning OutlivedNetwork nothing uses this disk of 1Ki, which was made for the network default/old: see shardyard sweep"
	metrics, told = lab.look()
	lab.check("metrics", metrics, "shardyard_outlived_disk_bytes default/old 2048", "shardyard_outlived_disks default/old 2")
	lab.check("events", told, event, event)

	if err := lab.cluster.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	metrics, told = lab.look()
	lab.check("metrics", metrics, "shardyard_outlived_disk_bytes default/old 1024", "shardyard_outlived_disks default/old 1")
	lab.check("events", told)

	// Of what cannot be seen, nothing is said.
	lab.refuse = errors.New("refused")
	metrics, _ = lab.look()
	lab.check("metrics", metrics)
	lab.refuse = nil
	metrics, told = lab.look()
	lab.check("metrics", metrics, "shardyard_outlived_disk_bytes default/old 1024", "shardyard_outlived_disks default/old 1")
	lab.check("events", told)

	if err := lab.cluster.Create(t.Context(), &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old"},
	}); err != nil {
		t.Fatal(err)
	}
	metrics, _ = lab.look()
	lab.check("metrics", metrics)
}

// Of volumes without their claims, those are told that are known to be of networks: a name
// is no evidence.
func TestReporterOfVolumes(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	lab.release(lab.volume("archive", "data-postgres-v15-0", "gone"))
	claim := lab.claim("old", "old-s0-p0")
	kept := lab.volume("kept", claim.Name, claim.UID)
	lab.look()
	// The network goes, and nothing of it stays but what its storage class keeps.
	if err := lab.cluster.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	lab.release(kept)
	lab.look()
	metrics, told := lab.look()
	lab.check("metrics", metrics, "shardyard_outlived_disk_bytes default/old 1024", "shardyard_outlived_disks default/old 1")
	lab.check("events", told,
		"Warning OutlivedNetwork nothing uses this disk of 1Ki, which was made for the network default/old: see shardyard sweep")
}

// Disks of a restore are not told of, as long as it may take.
func TestReporterOfARestore(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	lab.claim("back", "back-s0-p0")
	document := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: resources.GenesisName("back"), Labels: resources.NetworkLabels("back"),
		Annotations: map[string]string{resources.AnnotationRestore: "a-b back-s0-p0"},
	}}
	if err := lab.cluster.Create(t.Context(), document); err != nil {
		t.Fatal(err)
	}
	lab.look()
	metrics, told := lab.look()
	lab.check("metrics", metrics)
	lab.check("events", told)

	// It came to its end, and nobody makes the network.
	document.Annotations = nil
	if err := lab.cluster.Update(t.Context(), document); err != nil {
		t.Fatal(err)
	}
	lab.look()
	metrics, _ = lab.look()
	lab.check("metrics", metrics, "shardyard_outlived_disk_bytes default/back 1024", "shardyard_outlived_disks default/back 1")
}
