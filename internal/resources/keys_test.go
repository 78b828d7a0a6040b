// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
)

// A validator's pod gets the network's admin token, its own key, and no other
// Secret by any way a pod can get one.
func TestValidatorsGetNoKeyButTheirOwn(t *testing.T) {
	t.Parallel()
	for _, fixture := range []*fixture{quickstart(t), everything(t), seventyShards(t)} {
		for i, set := range fixture.statefulSets(t) {
			validator := fixture.plan.Nodes[i]
			want := []string{resources.AdminTokenName(fixture.network.Name), resources.KeyName(validator.Name)}
			if got := secretsOf(&set.Spec.Template.Spec); !slices.Equal(got, want) {
				t.Errorf("%s gets the Secrets %q, want %q", validator.Name, got, want)
			}
		}
	}
}

// secretsOf are the Secrets that a pod names, in order.
func secretsOf(pod *corev1.PodSpec) []string {
	var secrets []string
	for i := range pod.Volumes {
		volume := &pod.Volumes[i]
		if volume.Secret != nil {
			secrets = append(secrets, volume.Secret.SecretName)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil {
				secrets = append(secrets, source.Secret.Name)
			}
		}
	}
	for i := range pod.Containers {
		for _, source := range pod.Containers[i].EnvFrom {
			if source.SecretRef != nil {
				secrets = append(secrets, source.SecretRef.Name)
			}
		}
		for _, variable := range pod.Containers[i].Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				secrets = append(secrets, variable.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	slices.Sort(secrets)
	return secrets
}

// What the genesis document depends on can be neither changed nor mixed up.
func TestWhatIsMadeOnce(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	validator := fixture.plan.Nodes[3]

	key := resources.NewKey(fixture.network, validator, []byte("key file"))
	if got := string(resources.KeyFile(key)); got != "key file" {
		t.Errorf("key file is %q", got)
	}
	if key.Labels[resources.LabelShard] != "1" || key.Labels[resources.LabelSlot] != "1" {
		t.Errorf("the key's labels do not say whose it is: %v", key.Labels)
	}
	token := resources.NewAdminToken(fixture.network, "token")
	if got := resources.AdminToken(token); got != "token" {
		t.Errorf("admin token is %q", got)
	}
	genesis, document := newGenesis(t, fixture)
	content, err := nodeconfig.Encode(genesis)
	if err != nil {
		t.Fatal(err)
	}
	if got := resources.GenesisFile(document); got != string(content) {
		t.Errorf("genesis document is\n%s\nwant\n%s", got, content)
	}
	for name, immutable := range map[string]*bool{"key": key.Immutable, "token": token.Immutable, "genesis": document.Immutable} {
		if immutable == nil || !*immutable {
			t.Errorf("the %s can be changed", name)
		}
	}
}

// A disk is of no use without the keys and the genesis document that it was
// written with, so they stay with it.
func TestKeysStayWithDisks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		volume *v1alpha1.VolumeSpec
		owned  bool
	}{
		"no disk": {nil, true},
		"delete":  {&v1alpha1.VolumeSpec{Retention: v1alpha1.VolumeRetentionDelete}, true},
		"retain":  {&v1alpha1.VolumeSpec{Retention: v1alpha1.VolumeRetentionRetain}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := quickstart(t)
			fixture.network.Spec.Volume = test.volume
			_, document := newGenesis(t, fixture)
			for _, object := range []resources.Object{
				document,
				resources.NewKey(fixture.network, fixture.plan.Nodes[0], nil),
				resources.NewAdminToken(fixture.network, "token"),
			} {
				if got := metav1.IsControlledBy(object, fixture.network); got != test.owned {
					t.Errorf("%s goes with the network: %v, want %v", object.GetName(), got, test.owned)
				}
			}
			for _, set := range fixture.statefulSets(t) {
				deleted := set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted == "Delete"
				if deleted != test.owned {
					t.Errorf("the disk of %s goes with the network: %v, want %v", set.Name, deleted, test.owned)
				}
			}
		})
	}
}

func newGenesis(t *testing.T, fixture *fixture) (*nodeconfig.Genesis, *corev1.ConfigMap) {
	t.Helper()
	genesis, err := nodeconfig.NewGenesis(
		fixture.network, fixture.plan, fixture.inputs.PublicKeys, time.UnixMilli(1_790_000_000_000))
	if err != nil {
		t.Fatal(err)
	}
	document, err := resources.NewGenesis(fixture.network, genesis)
	if err != nil {
		t.Fatal(err)
	}
	return genesis, document
}
