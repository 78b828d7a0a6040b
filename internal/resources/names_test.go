// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// The names and labels of the largest network with the longest names are valid,
// and so are those that the cluster derives from them.
func TestLongestNames(t *testing.T) {
	t.Parallel()
	fixture := everything(t)
	network := fixture.network
	network.Name = "n" + strings.Repeat("x", 39)
	network.Namespace = strings.Repeat("s", validation.DNS1123LabelMaxLength)
	network.Spec.Shards, network.Spec.ProducersPerShard, network.Spec.ChunkValidators = 1024, 3, 1024
	network.Spec.Regions = []v1alpha1.Region{{Name: strings.Repeat("r", 63), Nodes: 4096}}
	network.Spec.Placement.MachineType = strings.Repeat("m", 63)
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	// The last ones of both roles have the longest names; the others would only
	// take time.
	last, lastChunkValidator := plan.Nodes[3*1024-1], plan.Nodes[4095]
	plan.Nodes = []topology.Validator{last, lastChunkValidator}
	fixture.plan, fixture.inputs.PublicKeys = plan, publicKeys(plan.Nodes)
	for name, want := range map[string]string{last.Name: "-s1023-p2", lastChunkValidator.Name: "-v1023"} {
		if name != network.Name+want {
			t.Fatalf("one of the last validators is %s, want %s", name, network.Name+want)
		}
	}

	objects := fixture.build(t)
	_, genesis := newGenesis(t, fixture)
	objects = append(objects,
		genesis,
		resources.NewKey(network, last, nil),
		resources.NewKey(network, lastChunkValidator, nil),
		resources.NewAdminToken(network, "token"),
		resources.NewPodMonitor(network, nil, resources.LibraryMetricsDrop),
	)
	probe := resources.NewImageProbe(network, strings.Repeat("i", 512))
	checkName(t, probe.Name, validation.IsDNS1123Label)
	for _, object := range append(objects, probe) {
		checkName(t, object.GetName(), validation.IsDNS1123Subdomain)
		checkLabels(t, object.GetName(), object.GetLabels())
	}
	for _, set := range only[*appsv1.StatefulSet](objects) {
		checkStatefulSetNames(t, set)
	}
	host, _, _ := strings.Cut(resources.P2PAddress(network, "cluster.local", last.Name, fixture.plan.Ports), ":")
	checkName(t, host, validation.IsDNS1123Subdomain)
}

// checkStatefulSetNames checks what a StatefulSet's controller makes of its
// names.
func checkStatefulSetNames(t *testing.T, set *appsv1.StatefulSet) {
	t.Helper()
	pod := resources.PodName(set.Name)
	checkName(t, set.Spec.ServiceName, validation.IsDNS1035Label)
	checkName(t, pod, validation.IsDNS1123Label)
	checkLabels(t, pod, set.Spec.Template.Labels)
	checkLabels(t, pod, set.Spec.Template.Spec.NodeSelector)
	checkLabels(t, pod, map[string]string{
		appsv1.StatefulSetPodNameLabel:        pod,
		appsv1.ControllerRevisionHashLabelKey: set.Name + "-0123456789",
	})
	for i := range set.Spec.VolumeClaimTemplates {
		claim := set.Spec.VolumeClaimTemplates[i].Name + "-" + pod
		if claim != resources.ClaimName(set.Name) {
			t.Errorf("the claim of %s is %s, want %s", set.Name, claim, resources.ClaimName(set.Name))
		}
		checkName(t, claim, validation.IsDNS1123Subdomain)
	}
}

func checkName(t *testing.T, name string, check func(string) []string) {
	t.Helper()
	for _, problem := range check(name) {
		t.Errorf("%s: %s", name, problem)
	}
}

func checkLabels(t *testing.T, object string, labels map[string]string) {
	t.Helper()
	for _, problem := range metav1validation.ValidateLabels(labels, field.NewPath(object)) {
		t.Error(problem)
	}
}

// A class that is made for a network is known by its name, and those of others are not.
func TestNamesOfStorageClasses(t *testing.T) {
	t.Parallel()
	network := quickstart(t).network
	network.Spec.Volume = &v1alpha1.VolumeSpec{
		Size: resource.MustParse("10Gi"), IOPS: 20_000,
		Roles: []v1alpha1.RoleVolume{{Role: v1alpha1.NodeRoleRPC, Size: resource.MustParse("2Gi"), IOPS: 3_000}},
	}
	classes := resources.NewStorageClasses(network)
	if len(classes) != 2 {
		t.Errorf("there are %d classes, want one of all roles and one of rpc nodes", len(classes))
	}
	for _, class := range classes {
		for _, test := range []struct {
			namespace, name string
			want            bool
		}{
			{network.Namespace, network.Name, true},
			{network.Namespace, network.Name + "2", false},
			{network.Namespace, network.Name[1:], false},
			{network.Namespace + "2", network.Name, false},
		} {
			if is := resources.IsStorageClass(class.Name, test.namespace, test.name); is != test.want {
				t.Errorf("that %s is a class of %s/%s is %t", class.Name, test.namespace, test.name, is)
			}
		}
	}
}
