// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options are what members have in common.
type Options struct {
	Scheme *runtime.Scheme
	// Cache says what members' caches keep.
	Cache cache.Options
	// Watched are the kinds of which changes are told.
	Watched []client.Object
	// Network is the network that an object belongs to, if it does.
	Network func(client.Object) (types.NamespacedName, bool)
	// Home writes the Secrets of members whose tokens were renewed. Without it,
	// none are.
	Home client.Client
	// Now is time.Now unless a test says otherwise.
	Now    func() time.Time
	Logger logr.Logger
}

func (o *Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Fleet are the members of all networks.
type Fleet struct {
	// home reads Secrets of the operator's own cluster.
	home    client.Reader
	options Options
	handler toolscache.ResourceEventHandler

	lock    sync.Mutex
	changed func(network types.NamespacedName)
	members map[types.NamespacedName]*known
}

// known is a member, which Secret it is of, and the networks that need it.
type known struct {
	*Member
	content  [sha256.Size]byte
	networks map[types.NamespacedName]bool
}

// New makes a fleet without members. Secrets are read from the operator's own
// cluster.
func New(home client.Reader, options Options) *Fleet {
	f := &Fleet{home: home, options: options, members: map[types.NamespacedName]*known{}}
	f.handler = handler(options.Network, f.tell)
	return f
}

// OnChange has a function called whenever an object of a network changes in a
// member. It must return at once.
func (f *Fleet) OnChange(changed func(network types.NamespacedName)) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.changed = changed
}

func (f *Fleet) tell(network types.NamespacedName) {
	f.lock.Lock()
	changed := f.changed
	f.lock.Unlock()
	if changed != nil {
		changed(network)
	}
}

// Start keeps the members until the context ends.
func (f *Fleet) Start(ctx context.Context) error {
	<-ctx.Done()
	f.drop(func(*known) bool { return true })
	return nil
}

// Member is the cluster that a Secret beside a network names. When it cannot be
// used now, the error says why, and the member is there all the same if it could
// be used before.
func (f *Fleet) Member(ctx context.Context, network types.NamespacedName, secret string) (*Member, error) {
	name := types.NamespacedName{Namespace: network.Namespace, Name: secret}
	member, err := f.member(ctx, network, name)
	if err != nil {
		return member, err
	}
	if err := member.reach(ctx, f.handler); err != nil {
		return member, err
	}
	f.renew(ctx, name, member)
	return member, nil
}

func (f *Fleet) member(ctx context.Context, network, name types.NamespacedName) (*Member, error) {
	secret := &corev1.Secret{}
	err := f.home.Get(ctx, name, secret)
	f.lock.Lock()
	defer f.lock.Unlock()
	present := f.members[name]
	if err == nil && present != nil && present.content == digest(secret) {
		present.networks[network] = true
		return present.Member, nil
	}
	var before *Member
	if present != nil {
		before = present.Member
	}
	switch {
	case apierrors.IsNotFound(err):
		return before, &SecretError{Cause: ErrSecretMissing}
	case err != nil:
		return before, fmt.Errorf("read Secret %s: %w", name.Name, err)
	}
	credentials, err := parse(secret)
	if err != nil {
		return before, &SecretError{Cause: err}
	}
	member, err := newMember(credentials, name.Namespace, &f.options)
	if err != nil {
		return before, &SecretError{Cause: err}
	}
	networks := map[types.NamespacedName]bool{network: true}
	if present != nil {
		go present.stop()
		networks = present.networks
		networks[network] = true
	}
	f.members[name] = &known{Member: member, content: digest(secret), networks: networks}
	return member, nil
}

// Forget stops the members that only a network which is gone needed.
func (f *Fleet) Forget(network types.NamespacedName) {
	f.drop(func(member *known) bool {
		delete(member.networks, network)
		return len(member.networks) == 0
	})
}

// drop stops members.
func (f *Fleet) drop(which func(*known) bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for name, member := range f.members {
		if which(member) {
			delete(f.members, name)
			// It may be waiting for an answer.
			go member.stop()
		}
	}
}

// digest tells one content of a Secret from another.
func digest(secret *corev1.Secret) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat(secret.Data[KeyDomain], []byte{0}, secret.Data[KeyKubeconfig]))
}
