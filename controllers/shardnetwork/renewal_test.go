// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/fleet"
)

// storedToken is the token in the Secret of the member.
func (c *cluster) storedToken() string {
	c.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: far}}
	c.read(secret)
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[fleet.KeyKubeconfig])
	if err != nil {
		c.t.Fatal(err)
	}
	return config.BearerToken
}

// The operator renews its token of a member when half of its time is over, by the
// rights that members give it, and goes on without a new connection.
func TestTheTokenOfAMemberIsRenewed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.joinMember()
	clock := time.Now()
	members := fleet.New(c.client, fleet.Options{
		Scheme: scheme, Cache: CacheOptions(), Watched: ownedKinds, Network: networkOf,
		Home: c.client, Now: func() time.Time { return clock },
	})
	network := types.NamespacedName{Namespace: c.namespace, Name: "quickstart"}
	t.Cleanup(func() { members.Forget(network) })
	reach := func() client.Client {
		t.Helper()
		member, err := members.Member(t.Context(), network, far)
		if err != nil {
			t.Fatal(err)
		}
		cached, _, seen := member.Clients()
		if !seen {
			t.Fatal("the member was not reached")
		}
		return cached
	}

	first := c.storedToken()
	connection := reach()
	// Tokens are for an hour if nobody asks for another time.
	clock = clock.Add(29 * time.Minute)
	reach()
	if c.storedToken() != first {
		t.Error("the token was renewed before half of its time was over")
	}
	clock = clock.Add(2 * time.Minute)
	if reach() != connection {
		t.Error("the member was connected anew for its token")
	}
	second := c.storedToken()
	if second == first {
		t.Fatal("the token was not renewed")
	}
	if reach() != connection {
		t.Error("the member was connected anew for the operator's own change of its Secret")
	}
	if c.storedToken() != second {
		t.Error("the token was renewed twice")
	}
	// The connection works, and so does another that only has the Secret.
	if err := connection.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "made-with-the-renewed-token"},
	}); err != nil {
		t.Error(err)
	}
	others := fleet.New(c.client, fleet.Options{Scheme: scheme, Cache: CacheOptions(), Watched: ownedKinds, Network: networkOf})
	t.Cleanup(func() { others.Forget(network) })
	if _, err := others.Member(t.Context(), network, far); err != nil {
		t.Errorf("the renewed token does not work: %v", err)
	}
}
