// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/sweep"
)

// Of namespaces that are not looked at, nobody knows whether their networks live.
func TestReadOfSomeNamespaces(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, namespace := range []string{"a", "b", "c"} {
		builder = builder.WithObjects(
			new(claim(namespace, "net")), new(volume("pvc-"+namespace, corev1.VolumeReleased, namespace, "data-net-s0-p1-0")))
	}
	reader := builder.Build()
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
