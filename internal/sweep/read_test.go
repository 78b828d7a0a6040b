// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/sweep"
)

// newCluster makes a cluster that has these objects.
func newCluster(t *testing.T, functions interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(functions).WithObjects(objects...).Build()
}

// Of namespaces that are not looked at, nobody knows whether their networks live.
func TestReadOfSomeNamespaces(t *testing.T) {
	t.Parallel()
	var objects []client.Object
	for _, namespace := range []string{"a", "b", "c"} {
		objects = append(objects,
			new(claim(namespace, "net")), new(volume("pvc-"+namespace, corev1.VolumeReleased, namespace, "data-net-s0-p1-0")))
	}
	reader := newCluster(t, interceptor.Funcs{}, objects...)
	for name, test := range map[string]struct{ namespaces, want []string }{
		"all":  {nil, []string{"a", "b", "c"}},
		"some": {[]string{"c", "a"}, []string{"a", "c"}},
		"none": {[]string{"d"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := sweep.Read(t.Context(), reader, test.namespaces...)
			if err != nil {
				t.Fatal(err)
			}
			disks := map[sweep.Kind][]string{}
			for _, found := range sweep.Find(cluster) {
				disks[found.Kind] = append(disks[found.Kind], found.Namespace)
			}
			for _, kind := range []sweep.Kind{sweep.Claim, sweep.Volume} {
				if !slices.Equal(disks[kind], test.want) {
					t.Errorf("of the kind %s there are disks of %v, want %v", kind, disks[kind], test.want)
				}
			}
		})
	}
}

// What a network kept with its disks says whose they are.
func TestReadWhatIsKept(t *testing.T) {
	t.Parallel()
	reader := newCluster(t, interceptor.Funcs{}, &corev1.ConfigMap{ObjectMeta: genesis("net")},
		new(volume("pvc-0", corev1.VolumeReleased, "default", "data-net-s0-p1-0")),
		new(volume("pvc-1", corev1.VolumeReleased, "default", "data-postgres-v15-0")))
	cluster, err := sweep.Read(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	byNameOnly := map[string]bool{}
	for _, found := range sweep.Find(cluster) {
		byNameOnly[found.Name] = found.ByNameOnly
	}
	if want := map[string]bool{"pvc-0": false, "pvc-1": true}; !maps.Equal(byNameOnly, want) {
		t.Errorf("known by name only are %v, want %v", byNameOnly, want)
	}
}

// A disk that is filled before its network is there is none that is left.
func TestReadOfARestore(t *testing.T) {
	t.Parallel()
	document := corev1.ConfigMap{ObjectMeta: genesis("net")}
	document.Annotations = map[string]string{resources.AnnotationRestore: "a-b"}
	filled := claim("default", "net")
	filled.Name = "data-net-s0-p1-0"
	reader := newCluster(t, interceptor.Funcs{}, &document, &filled,
		new(claim("default", "net")), new(pod("default", "data-net-s0-p0-0", corev1.PodRunning)))
	cluster, err := sweep.Read(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	found := sweep.Find(cluster)
	if len(found) != 1 || found[0].Name != filled.Name || !found[0].Restoring {
		t.Errorf("what is left is %+v, want the disk that no pod fills any more, with a mark", found)
	}
}
