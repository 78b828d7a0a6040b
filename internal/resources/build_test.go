// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

func TestSeventyShards(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	names := map[string]bool{}
	for _, object := range seventyShards(t).build(t) {
		kind := object.GetObjectKind().GroupVersionKind().Kind
		if name := kind + "/" + object.GetName(); names[name] {
			t.Errorf("%s is there twice", name)
		} else {
			names[name] = true
		}
		counts[kind]++
	}
	want := map[string]int{
		"ConfigMap":           141,
		"NetworkPolicy":       1,
		"PodDisruptionBudget": 1,
		"Service":             2,
		"StatefulSet":         140,
		"StorageClass":        1,
	}
	if !reflect.DeepEqual(counts, want) {
		t.Errorf("objects are %v, want %v", counts, want)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	fixture := seventyShards(t)
	network := fixture.network.DeepCopy()
	first := fixture.build(t)
	if second := fixture.build(t); !reflect.DeepEqual(first, second) {
		t.Error("the same network built twice gives other objects")
	}
	if !reflect.DeepEqual(fixture.network, network) {
		t.Errorf("building changed the network to %+v", fixture.network)
	}
}

func TestBuildRefusesAValidatorWithoutKey(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	delete(fixture.inputs.PublicKeys, "quickstart-s1-p0")
	_, err := resources.Build(fixture.network, fixture.plan, fixture.inputs)
	if want := "validator quickstart-s1-p0 has no public key"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want it to say %q", err, want)
	}
}

// A configuration is mounted under a name of its own, and that of before stays for
// the pods that were made with it.
func TestConfigurationOfBeforeIsKept(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	before := mountedConfigs(t, fixture.build(t))
	fixture.inputs.Before = fixture.network.DeepCopy()
	if same := fixture.build(t); !reflect.DeepEqual(mountedConfigs(t, same), before) || len(only[*corev1.ConfigMap](same)[1].Data) != 1 {
		t.Error("the same configuration is there twice, or under another name")
	}

	fixture.network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	objects := fixture.build(t)
	after := mountedConfigs(t, objects)
	for _, config := range only[*corev1.ConfigMap](objects)[1:] {
		old, recent := config.Data[before[config.Name]], config.Data[after[config.Name]]
		if len(config.Data) != 2 || !strings.Contains(old, `"level": "info"`) || !strings.Contains(recent, `"level": "debug"`) {
			t.Errorf("%s holds %v", config.Name, config.Data)
		}
	}
}

// So it is with what lies around the nodes: the links between their regions, of which the
// document of all peers tells as well, and where their spans go.
func TestSurroundingsOfBeforeAreKept(t *testing.T) {
	t.Parallel()
	links := []v1alpha1.LinkSpec{{Between: []string{"here", "there"}, DelayMilliseconds: 40}}
	for name, test := range map[string]struct {
		before, after func(*v1alpha1.ShardNetworkSpec)
		peers         int
	}{
		"the first link": {
			func(*v1alpha1.ShardNetworkSpec) {}, func(spec *v1alpha1.ShardNetworkSpec) { spec.Links = links }, 2,
		},
		"no link any more": {
			func(spec *v1alpha1.ShardNetworkSpec) { spec.Links = links }, func(spec *v1alpha1.ShardNetworkSpec) { spec.Links = nil }, 2,
		},
		"another link": {
			func(spec *v1alpha1.ShardNetworkSpec) { spec.Links = links },
			func(spec *v1alpha1.ShardNetworkSpec) {
				spec.Links = []v1alpha1.LinkSpec{*links[0].DeepCopy()}
				spec.Links[0].DelayMilliseconds = 80
			}, 1,
		},
		"tracing": {
			func(*v1alpha1.ShardNetworkSpec) {}, func(spec *v1alpha1.ShardNetworkSpec) {
				spec.Tracing = &v1alpha1.TracingSpec{Endpoint: "http://collector:4318"}
			}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := quickstart(t).network
			network.Spec.Regions = []v1alpha1.Region{{Name: "here", Nodes: 2}, {Name: "there", Nodes: 2}}
			test.before(&network.Spec)
			before := planned(t, network).build(t)

			changed := network.DeepCopy()
			test.after(&changed.Spec)
			fixture := planned(t, changed)
			fixture.inputs.Before = network
			after := fixture.build(t)
			for i, documents := range only[*corev1.ConfigMap](after) {
				want := 2
				if documents.Name == resources.PeersName(network.Name) {
					want = test.peers
				}
				if len(documents.Data) != want {
					t.Errorf("%s holds %d documents, want %d", documents.Name, len(documents.Data), want)
				}
				for key, content := range only[*corev1.ConfigMap](before)[i].Data {
					if documents.Data[key] != content {
						t.Errorf("%s does not hold the %s of before", documents.Name, key)
					}
				}
			}
		})
	}
}

// mountedConfigs are the keys of their configuration that pods mount, by ConfigMap.
func mountedConfigs(t *testing.T, objects []resources.Object) map[string]string {
	t.Helper()
	mounted := map[string]string{}
	for _, set := range only[*appsv1.StatefulSet](objects) {
		config := set.Spec.Template.Spec.Volumes[0].Projected.Sources[0].ConfigMap
		if len(config.Items) != 1 || config.Items[0].Path != "config.json" {
			t.Fatalf("%s mounts %+v", set.Name, config)
		}
		mounted[config.Name] = config.Items[0].Key
	}
	return mounted
}

// Everything that speaks of a port means the plan's.
func TestPortsAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	fixture.plan.Ports = topology.Ports{P2P: 4001, HTTP: 4002, Admin: 4003}
	objects := fixture.build(t)
	want := map[string]int32{resources.PortP2P: 4001, resources.PortHTTP: 4002, resources.PortAdmin: 4003}

	for _, set := range only[*appsv1.StatefulSet](objects) {
		got := map[string]int32{}
		for _, port := range set.Spec.Template.Spec.Containers[0].Ports {
			got[port.Name] = port.ContainerPort
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the ports %v, want %v", set.Name, got, want)
		}
	}
	// The admin API is the operator's, which asks pods by their address.
	delete(want, resources.PortAdmin)
	got := map[string]int32{}
	for _, service := range only[*corev1.Service](objects) {
		for _, port := range service.Spec.Ports {
			got[port.Name] = port.Port
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Services have the ports %v, want %v", got, want)
	}
	for _, config := range only[*corev1.ConfigMap](objects) {
		wanted := []string{`"listen": "0.0.0.0:4001"`, `"listen": "0.0.0.0:4002"`, `"listen": "0.0.0.0:4003"`}
		if config.Name == resources.PeersName(fixture.network.Name) {
			wanted = []string{`.quickstart-p2p.default.svc.cluster.local:4001"`}
		}
		for _, want := range wanted {
			for _, content := range config.Data {
				if !strings.Contains(content, want) {
					t.Errorf("%s does not say %s: %s", config.Name, want, content)
				}
			}
		}
	}
	var open []int32
	for _, rule := range only[*networkingv1.NetworkPolicy](objects)[0].Spec.Ingress {
		open = append(open, rule.Ports[0].Port.IntVal)
	}
	if want := []int32{4001, 4002, 4003}; !slices.Equal(open, want) {
		t.Errorf("the policy lets p2p, http and admin in at %d, want %d", open, want)
	}
}

// Each StatefulSet owns its validator's pod alone.
func TestSelectors(t *testing.T) {
	t.Parallel()
	fixture := seventyShards(t)
	objects := fixture.build(t)
	pods := map[string]labels.Set{}
	for _, set := range only[*appsv1.StatefulSet](objects) {
		pods[set.Name] = set.Spec.Template.Labels
	}
	for i, set := range only[*appsv1.StatefulSet](objects) {
		want := []string{fixture.plan.Nodes[i].Name}
		checkSelects(t, set.Name, set.Spec.Selector, pods, want)
	}
}

// The budget holds every validator, producers and chunk validators alike, until
// its pod is let go, and no pod of another network.
func TestDisruptionBudget(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	fixture.network.Spec.ChunkValidators = 1
	fixture.network.Spec.Regions[0].Nodes++
	objects := planned(t, fixture.network).build(t)
	pods, held := map[string]labels.Set{}, []string{}
	for _, set := range only[*appsv1.StatefulSet](objects) {
		pods[set.Name] = set.Spec.Template.Labels
		held = append(held, set.Name)
	}
	budgets := only[*policyv1.PodDisruptionBudget](objects)
	if len(budgets) != 1 {
		t.Fatalf("there are %d budgets, want one", len(budgets))
	}
	fixture.network.Name = "other"
	pods["other-s0-p0"] = planned(t, fixture.network).statefulSets(t)[0].Spec.Template.Labels
	checkSelects(t, "the budget", budgets[0].Spec.Selector, pods, held)

	let := maps.Clone(pods[held[2]])
	let[resources.LabelEviction] = resources.EvictionAllowed
	pods[held[2]] = let
	checkSelects(t, "the budget", budgets[0].Spec.Selector, pods, slices.Delete(held, 2, 3))
}

func checkSelects(t *testing.T, name string, selector *metav1.LabelSelector, pods map[string]labels.Set, want []string) {
	t.Helper()
	selects, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for pod, labels := range pods {
		if selects.Matches(labels) {
			got[pod] = true
		}
	}
	for _, pod := range want {
		if !got[pod] {
			t.Errorf("%s does not select %s", name, pod)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s selects %v, want %v", name, got, want)
	}
}

// What selects the producers of a shard, or all chunk validators, selects no
// other, whether pods share machines or not.
func TestChunkValidatorsAreNoProducers(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	fixture.network.Spec.ChunkValidators = 3
	fixture.network.Spec.Regions[0].Nodes += 3
	fixture = planned(t, fixture.network)
	objects := fixture.build(t)
	pods := map[string]labels.Set{}
	sets := only[*appsv1.StatefulSet](objects)
	for _, set := range sets {
		pods[set.Name] = set.Spec.Template.Labels
	}
	chunkValidators := []string{"quickstart-v0", "quickstart-v1", "quickstart-v2"}
	for _, set := range sets[4:] {
		checkSelects(t, set.Name, set.Spec.Selector, pods, []string{set.Name})
		apart := set.Spec.Template.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		checkSelects(t, "the affinity of "+set.Name, apart[0].PodAffinityTerm.LabelSelector, pods, chunkValidators)
		for _, label := range []string{resources.LabelShard, resources.LabelSlot} {
			if value, ok := set.Spec.Template.Labels[label]; ok {
				t.Errorf("%s has the label %s=%s", set.Name, label, value)
			}
		}
	}
}

// Clients are led to rpc nodes alone where there are some, and otherwise to all
// nodes. Rpc nodes keep apart from each other.
func TestClientsAreLedToRPCNodes(t *testing.T) {
	t.Parallel()
	for rpcNodes, want := range map[int32][]string{
		0: {"quickstart-s0-p0", "quickstart-s0-p1", "quickstart-s1-p0", "quickstart-s1-p1", "quickstart-v0"},
		2: {"quickstart-r0", "quickstart-r1"},
	} {
		fixture := quickstart(t)
		fixture.network.Spec.ChunkValidators, fixture.network.Spec.RPCNodes = 1, rpcNodes
		fixture.network.Spec.Regions[0].Nodes += 1 + rpcNodes
		fixture = planned(t, fixture.network)
		objects := fixture.build(t)
		pods := map[string]labels.Set{}
		sets := only[*appsv1.StatefulSet](objects)
		for _, set := range sets {
			pods[set.Name] = set.Spec.Template.Labels
		}
		for _, service := range only[*corev1.Service](objects) {
			if service.Name == "quickstart-rpc" {
				checkSelects(t, service.Name, &metav1.LabelSelector{MatchLabels: service.Spec.Selector}, pods, want)
			}
		}
		for _, set := range sets[5:] {
			if role := set.Spec.Template.Labels[resources.LabelRole]; role != "rpc" {
				t.Errorf("%s has the role %s", set.Name, role)
			}
			apart := set.Spec.Template.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			checkSelects(t, "the affinity of "+set.Name, apart[0].PodAffinityTerm.LabelSelector, pods, want)
		}
	}
}

// The cluster deletes pods from machines that do not answer. What a pod without a
// disk holds would go with it.
func TestPodsWithoutDisksOutliveOutages(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	for name, volume := range map[string]*v1alpha1.VolumeSpec{"with": {}, "without": nil} {
		fixture.network.Spec.Volume = volume
		tolerated := 0
		for _, toleration := range fixture.statefulSets(t)[0].Spec.Template.Spec.Tolerations {
			if slices.Contains([]string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}, toleration.Key) &&
				toleration.Operator == corev1.TolerationOpExists && toleration.Effect == corev1.TaintEffectNoExecute &&
				toleration.TolerationSeconds == nil {
				tolerated++
			}
		}
		if want := map[string]int{"with": 0, "without": 2}[name]; tolerated != want {
			t.Errorf("%s a disk, a validator tolerates %d taints of machines that do not answer, want %d", name, tolerated, want)
		}
	}
}

// Who names no regions has validators on machines of any, whatever their labels.
func TestNoRegionsIsAnyMachine(t *testing.T) {
	t.Parallel()
	fixture := newFixture(t, filepath.Join("..", "..", "config", "samples", "minimal.yaml"))
	for _, set := range fixture.statefulSets(t) {
		if selector := set.Spec.Template.Spec.NodeSelector; len(selector) != 0 {
			t.Errorf("%s needs a machine with %v", set.Name, selector)
		}
	}
	fixture.network.Spec.Regions = []v1alpha1.Region{{Name: "here", Nodes: 4}}
	for _, set := range planned(t, fixture.network).statefulSets(t) {
		want := map[string]string{resources.LabelRegionOfMachine: "here"}
		if selector := set.Spec.Template.Spec.NodeSelector; !maps.Equal(selector, want) {
			t.Errorf("%s needs a machine with %v, want %v", set.Name, selector, want)
		}
	}
}

// Another configuration must make another pod: nodes read theirs once.
func TestPodsChangeWithTheirConfiguration(t *testing.T) {
	t.Parallel()
	before := quickstart(t).statefulSets(t)
	fixture := quickstart(t)
	fixture.network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	for i, after := range fixture.statefulSets(t) {
		if reflect.DeepEqual(before[i].Spec.Template, after.Spec.Template) {
			t.Errorf("the pod of %s is the same with another configuration", after.Name)
		}
	}

	fixture = quickstart(t)
	fixture.inputs.ClusterDomains = map[string]string{"": "elsewhere"}
	for i, after := range fixture.statefulSets(t) {
		if reflect.DeepEqual(before[i].Spec.Template, after.Spec.Template) {
			t.Errorf("the pod of %s is the same with other addresses of its peers", after.Name)
		}
	}
}

func TestNodeImage(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	for _, test := range []struct{ spec, want string }{
		{"", "ghcr.io/shardyard/shardnode:0.1.0"},
		{"shardnode:other", "shardnode:other"},
	} {
		fixture.network.Spec.Node.Image = test.spec
		for _, set := range fixture.statefulSets(t) {
			if got := set.Spec.Template.Spec.Containers[0].Image; got != test.want {
				t.Errorf("with image %q, %s runs %s, want %s", test.spec, set.Name, got, test.want)
			}
		}
	}
}

func TestStorageClasses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		volume *v1alpha1.VolumeSpec
		// made are the parameters of the class that is made; nil when none is.
		made map[string]string
		// claimed is the class that claims name.
		claimed *string
	}{
		"no disk":       {},
		"default class": {volume: &v1alpha1.VolumeSpec{}},
		"existing class": {
			volume:  &v1alpha1.VolumeSpec{StorageClassName: "fast"},
			claimed: ptr.To("fast"),
		},
		"IOPS": {
			volume:  &v1alpha1.VolumeSpec{IOPS: 20_000},
			made:    map[string]string{"type": "hyperdisk-balanced", "provisioned-iops-on-create": "20000"},
			claimed: ptr.To("shardyard.default.quickstart"),
		},
		"throughput": {
			volume:  &v1alpha1.VolumeSpec{ThroughputMebibytesPerSecond: 250},
			made:    map[string]string{"type": "hyperdisk-balanced", "provisioned-throughput-on-create": "250Mi"},
			claimed: ptr.To("shardyard.default.quickstart"),
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := quickstart(t)
			fixture.network.Spec.Volume = test.volume
			objects := fixture.build(t)
			var made map[string]string
			for _, class := range only[*storagev1.StorageClass](objects) {
				made = class.Parameters
			}
			if !reflect.DeepEqual(made, test.made) {
				t.Errorf("the class that is made has parameters %v, want %v", made, test.made)
			}
			for _, set := range only[*appsv1.StatefulSet](objects) {
				claims := set.Spec.VolumeClaimTemplates
				if got, want := len(claims) > 0, test.volume != nil; got != want {
					t.Errorf("%s claims a disk: %v, want %v", set.Name, got, want)
				}
				for i := range claims {
					if got := claims[i].Spec.StorageClassName; !reflect.DeepEqual(got, test.claimed) {
						t.Errorf("%s claims the class %q, want %q", set.Name, ptr.Deref(got, ""), ptr.Deref(test.claimed, ""))
					}
				}
			}
		})
	}
}

// Validators of a region that has a machine type of its own need that one and put up
// with its taint alone; the pod that asks an image runs where any of them may.
func TestMachineTypesOfRegions(t *testing.T) {
	t.Parallel()
	type place struct {
		machineType string
		tolerated   []string
	}
	cases := map[string]struct {
		all      string
		want     map[string]place
		asks     place
		affinity []string
	}{
		"in the place of that of all": {
			all:      "large",
			want:     map[string]place{"north": {"large", []string{"large"}}, "south": {"small", []string{"small"}}},
			asks:     place{"", []string{"large", "small"}},
			affinity: []string{"large", "small"},
		},
		"beside any": {
			want: map[string]place{"north": {}, "south": {"small", []string{"small"}}},
		},
		"the same": {
			all:  "small",
			want: map[string]place{"north": {"small", []string{"small"}}, "south": {"small", []string{"small"}}},
			asks: place{"small", []string{"small"}},
		},
	}
	of := func(spec *corev1.PodSpec) place {
		found := place{machineType: spec.NodeSelector[resources.LabelMachineType]}
		for i := range spec.Tolerations {
			if spec.Tolerations[i].Key == resources.TaintMachineType {
				found.tolerated = append(found.tolerated, spec.Tolerations[i].Value)
			}
		}
		return found
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := quickstart(t).network
			network.Spec.Regions = []v1alpha1.Region{{Name: "north", Nodes: 2}, {Name: "south", Nodes: 2}}
			network.Spec.Placement.MachineType = test.all
			network.Spec.Placement.Regions = []v1alpha1.RegionPlacement{{Name: "south", MachineType: "small"}}
			for _, set := range planned(t, network).statefulSets(t) {
				got, want := of(&set.Spec.Template.Spec), test.want[set.Labels[resources.LabelRegion]]
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s is for %+v, want %+v", set.Name, set.Labels[resources.LabelRegion], got, want)
				}
			}
			probe := resources.NewImageProbe(network, "shardnode:one")
			if got, want := of(&probe.Spec), test.asks; !reflect.DeepEqual(got, want) {
				t.Errorf("the pod that asks the image is for %+v, want %+v", got, want)
			}
			var types []string
			if probe.Spec.Affinity != nil {
				terms := probe.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
				types = terms[0].MatchExpressions[0].Values
			}
			if !slices.Equal(types, test.affinity) {
				t.Errorf("the pod that asks the image runs on machines of the types %v, want %v", types, test.affinity)
			}
		})
	}
}

// Nodes of a role that has a disk of its own have that one, with a class of its own
// where its performance is stated, and all others what they would have without.
func TestVolumesOfRoles(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	spec := &fixture.network.Spec
	spec.Regions, spec.ChunkValidators, spec.RPCNodes = nil, 1, 1
	spec.Volume = &v1alpha1.VolumeSpec{
		Size: resource.MustParse("10Gi"), IOPS: 20_000,
		Roles: []v1alpha1.RoleVolume{
			{Role: v1alpha1.NodeRoleChunkValidator, Size: resource.MustParse("1Gi")},
			{Role: v1alpha1.NodeRoleRPC, Size: resource.MustParse("2Gi"), ThroughputMebibytesPerSecond: 250},
		},
	}
	fixture = planned(t, fixture.network)
	type claim struct{ size, class string }
	want := map[topology.Role]claim{
		topology.RoleProducer:       {"10Gi", "shardyard.default.quickstart"},
		topology.RoleChunkValidator: {"1Gi", ""},
		topology.RoleRPC:            {"2Gi", "shardyard.default.quickstart.rpc"},
	}
	roles := map[string]topology.Role{}
	for _, node := range fixture.plan.Nodes {
		roles[node.Name] = node.Role
	}
	objects := fixture.build(t)
	for _, set := range only[*appsv1.StatefulSet](objects) {
		claimed := set.Spec.VolumeClaimTemplates[0].Spec
		got := claim{claimed.Resources.Requests.Storage().String(), ptr.Deref(claimed.StorageClassName, "")}
		if role := roles[set.Name]; got != want[role] {
			t.Errorf("%s, a %s, claims %+v, want %+v", set.Name, role, got, want[role])
		}
	}
	made := map[string]map[string]string{}
	for _, class := range only[*storagev1.StorageClass](objects) {
		made[class.Name] = class.Parameters
	}
	if want := map[string]map[string]string{
		"shardyard.default.quickstart":     {"type": "hyperdisk-balanced", "provisioned-iops-on-create": "20000"},
		"shardyard.default.quickstart.rpc": {"type": "hyperdisk-balanced", "provisioned-throughput-on-create": "250Mi"},
	}; !reflect.DeepEqual(made, want) {
		t.Errorf("the classes that are made are %v, want %v", made, want)
	}
}

// Outside of a cluster, the operator has no namespace that nodes could let in.
func TestPolicyWithoutOperatorNamespace(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	fixture.inputs.OperatorNamespace = ""
	ingress := only[*networkingv1.NetworkPolicy](fixture.build(t))[0].Spec.Ingress
	if len(ingress) != 2 {
		t.Fatalf("%d ports are open, want those of p2p and the HTTP API: %v", len(ingress), ingress)
	}
	clients := ingress[1].From
	if len(clients) != 2 {
		t.Fatalf("the HTTP API is open to %v, want two kinds of clients", clients)
	}
	for _, client := range clients {
		if selector := client.NamespaceSelector; selector != nil && selector.MatchLabels[resources.LabelNodeAccess] == "" {
			t.Errorf("the HTTP API is open to namespaces %v", selector)
		}
	}
}

// The admin API is for the operator alone, wherever it is.
func TestAdminAPIIsForTheOperator(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		inputs func(*resources.Inputs)
		want   networkingv1.NetworkPolicyPeer
	}{
		"in its own cluster": {
			func(inputs *resources.Inputs) { inputs.OperatorNamespace = "operators" },
			networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: "operators"},
			}},
		},
		"in another cluster": {
			func(inputs *resources.Inputs) { inputs.Cluster, inputs.OperatorAddress = "far", "10.0.0.7" },
			networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.7/32"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := spanning(t, "")
			test.inputs(&fixture.inputs)
			ingress := only[*networkingv1.NetworkPolicy](fixture.build(t))[0].Spec.Ingress
			admin := ingress[len(ingress)-1]
			if port := int(admin.Ports[0].Port.IntVal); len(admin.Ports) != 1 || port != fixture.plan.Ports.Admin {
				t.Errorf("the last rule is for port %d, want %d", port, fixture.plan.Ports.Admin)
			}
			if !reflect.DeepEqual(admin.From, []networkingv1.NetworkPolicyPeer{test.want}) {
				t.Errorf("the admin API is open to %v, want %v", admin.From, test.want)
			}
		})
	}
}
