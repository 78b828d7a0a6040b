// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

const (
	// probeTimeout is how long an API server may take to show that it is there.
	probeTimeout = 3 * time.Second
	// syncTimeout is how long the first fill of a cache may take before the
	// member counts as unavailable, for the time being.
	syncTimeout = 10 * time.Second
)

// errNotSynced is a cache that is still being filled.
var errNotSynced = fmt.Errorf("its objects were not read within %s", syncTimeout)

// errStopped is a member that no network needs any more, or whose Secret names
// another cluster by now.
var errStopped = errors.New("it is being let go")

// Member is a cluster that holds parts of networks.
type Member struct {
	credentials *credentials
	namespace   string
	options     *Options
	// sets and namespaces ask the API server, without a cache.
	sets       appsv1client.StatefulSetInterface
	namespaces corev1client.NamespaceInterface

	lock sync.Mutex
	// connection is nil until the cluster was reached once.
	connection *connection
	// missed is true when the cluster could not be used since, so that the cache
	// may have missed what happened.
	missed bool
	// stopped members are not reached any more.
	stopped bool
}

// connection is a client of the cluster with a cache.
type connection struct {
	cluster.Cluster
	uid  types.UID
	stop context.CancelFunc
}

// newMember makes a member, and does not reach for it yet.
func newMember(credentials *credentials, namespace string, options *Options) (*Member, error) {
	apps, err := appsv1client.NewForConfig(credentials.config)
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfig(credentials.config)
	if err != nil {
		return nil, err
	}
	return &Member{
		credentials: credentials,
		namespace:   namespace,
		options:     options,
		sets:        apps.StatefulSets(namespace),
		namespaces:  core.Namespaces(),
	}, nil
}

// Domain is the domain of the cluster's DNS names.
func (m *Member) Domain() string { return m.credentials.domain }

// UID tells the cluster from all others, whatever its name and address: it is that
// of its namespace kube-system, which comes and goes with the cluster. It is
// empty until the cluster was reached once.
func (m *Member) UID() types.UID {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.connection == nil {
		return ""
	}
	return m.connection.uid
}

// Clients are the one that reads from a cache, of what networks are made of, and
// writes, and the one that asks the API server. They are nil, and seen is false,
// until the cache was filled once; from then on it holds what the cluster had,
// however long ago that was.
func (m *Member) Clients() (cached client.Client, direct client.Reader, seen bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.connection == nil {
		return nil, nil, false
	}
	return m.connection.GetClient(), m.connection.GetAPIReader(), true
}

// Machines lists the machines of the cluster.
func (m *Member) Machines(ctx context.Context) (*corev1.NodeList, error) {
	m.lock.Lock()
	connection := m.connection
	m.lock.Unlock()
	if connection == nil {
		return nil, errMachinesNotRead
	}
	return ListMachines(ctx, connection.GetCache(), connection.GetAPIReader())
}

// reach asks the API server for something that the member's rights are for. The
// first time, and after every time that this was in vain, it fills a new cache:
// an old one would take up to half a minute until it looks again.
func (m *Member) reach(ctx context.Context, handler toolscache.ResourceEventHandler) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.stopped {
		return errStopped
	}
	if err := m.probe(ctx); err != nil {
		m.missed = true
		return err
	}
	if m.connection != nil && !m.missed {
		return nil
	}
	fresh, err := m.connect(ctx, handler)
	if err != nil {
		return err
	}
	if m.connection != nil {
		m.connection.stop()
	}
	m.connection, m.missed = fresh, false
	return nil
}

func (m *Member) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := m.sets.List(ctx, metav1.ListOptions{Limit: 1})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", probeTimeout, context.DeadlineExceeded)
	}
	return err
}

// identify reads the UID of the cluster.
func (m *Member) identify(ctx context.Context) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	system, err := m.namespaces.Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return system.UID, nil
}

// connect makes a client whose cache is filled, and has events about objects
// told.
func (m *Member) connect(ctx context.Context, handler toolscache.ResourceEventHandler) (_ *connection, err error) {
	uid, err := m.identify(ctx)
	if err != nil {
		return nil, err
	}
	made, err := cluster.New(m.credentials.config, func(options *cluster.Options) {
		options.Scheme = m.options.Scheme
		options.Logger = m.options.Logger
		options.Cache = m.options.Cache
		// The rights of its credentials end at the namespace.
		options.Cache.DefaultNamespaces = map[string]cache.Config{m.namespace: {}}
	})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			stop()
		}
	}()
	go func() {
		if err := made.Start(running); err != nil && running.Err() == nil {
			m.options.Logger.Error(err, "cache of a member cluster ended", "server", m.credentials.config.Host)
		}
	}()

	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for _, kind := range m.options.Watched {
		informer, err := made.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	if !made.GetCache().WaitForCacheSync(ctx) {
		return nil, errNotSynced
	}
	return &connection{Cluster: made, uid: uid, stop: stop}, nil
}

// stop lets go of the cluster.
func (m *Member) stop() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.stopped = true
	if m.connection != nil {
		m.connection.stop()
	}
}

// handler tells of every object that was added, changed or removed.
func handler(network func(client.Object) (types.NamespacedName, bool), tell func(types.NamespacedName)) toolscache.ResourceEventHandler {
	told := func(object any) {
		if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if object, ok := object.(client.Object); ok {
			if name, ok := network(object); ok {
				tell(name)
			}
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    told,
		UpdateFunc: func(_, object any) { told(object) },
		DeleteFunc: told,
	}
}
