// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
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

// Member is a cluster that holds parts of networks.
type Member struct {
	credentials *credentials
	namespace   string
	options     *Options

	lock    sync.Mutex
	cluster cluster.Cluster
	stopped context.CancelFunc
	watched bool
	synced  bool
}

// Domain is the domain of the cluster's DNS names.
func (m *Member) Domain() string { return m.credentials.domain }

// Clients are the one that reads from a cache, of what networks are made of, and
// writes, and the one that asks the API server. They are nil, and seen is false,
// until the cache was filled once; from then on it holds what the cluster had,
// however long ago that was.
func (m *Member) Clients() (cached client.Client, direct client.Reader, seen bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.synced {
		return nil, nil, false
	}
	return m.cluster.GetClient(), m.cluster.GetAPIReader(), true
}

// reach asks the API server for something that the member's rights are for, and
// has the cache filled the first time.
func (m *Member) reach(ctx context.Context, handler toolscache.ResourceEventHandler) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if err := m.start(); err != nil {
		return err
	}
	if err := m.probe(ctx); err != nil || m.synced {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if err := m.watch(ctx, handler); err != nil {
		return err
	}
	if !m.cluster.GetCache().WaitForCacheSync(ctx) {
		return errNotSynced
	}
	m.synced = true
	return nil
}

// start makes a client of the cluster's namespace, for which the API server has
// to tell what kinds it has, and starts its cache.
func (m *Member) start() error {
	if m.cluster != nil {
		return nil
	}
	config := m.credentials.config
	member, err := cluster.New(config, func(options *cluster.Options) {
		options.Scheme = m.options.Scheme
		options.Logger = m.options.Logger
		options.Cache = m.options.Cache
		// The rights of its credentials end at the namespace.
		options.Cache.DefaultNamespaces = map[string]cache.Config{m.namespace: {}}
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		if err := member.Start(ctx); err != nil && ctx.Err() == nil {
			m.options.Logger.Error(err, "cache of a member cluster ended", "server", config.Host)
		}
	}()
	m.cluster, m.stopped = member, stop
	return nil
}

// stop lets go of the cluster.
func (m *Member) stop() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.stopped != nil {
		m.stopped()
	}
}

func (m *Member) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := m.cluster.GetAPIReader().List(ctx, &appsv1.StatefulSetList{}, client.InNamespace(m.namespace), client.Limit(1))
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", probeTimeout, context.DeadlineExceeded)
	}
	return err
}

// watch has events about objects told. It is done once: informers keep the
// handlers that they have.
func (m *Member) watch(ctx context.Context, handler toolscache.ResourceEventHandler) error {
	if m.watched {
		return nil
	}
	informers := make([]cache.Informer, 0, len(m.options.Watched))
	for _, kind := range m.options.Watched {
		informer, err := m.cluster.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
		informers = append(informers, informer)
	}
	for _, informer := range informers {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	m.watched = true
	return nil
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
