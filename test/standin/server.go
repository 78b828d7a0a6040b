// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/adminapi"
)

// AnnotationLacking is the annotation of a pod that says what the copy of its
// shard lacks in its node's words. Without it, the copy is complete.
const AnnotationLacking = "standin.shardyard.dev/lacking"

// mountInterval is how often it is looked for a file that is not there yet.
const mountInterval = 200 * time.Millisecond

// StandIn are the networks that are stood in for.
type StandIn struct {
	networks *networks
}

// New stands in for nobody yet.
func New() *StandIn {
	return &StandIn{networks: &networks{byGenesis: map[string]*network{}}}
}

// Serve serves every validator's pod that runs in one of some clusters until the
// context ends. Nodes of the same genesis document are one network, wherever
// they run.
func (s *StandIn) Serve(ctx context.Context, configs ...*rest.Config) error {
	group, groupContext := errgroup.WithContext(ctx)
	for i, config := range configs {
		group.Go(func() error { return serveCluster(groupContext, "stand-in-"+strconv.Itoa(i), config, s.networks) })
	}
	return group.Wait()
}

// Loading is how many nodes of the networks of a name were told to sign something, and
// how long after the first the last one was.
func (s *StandIn) Loading(name string) (nodes int, spread time.Duration) {
	s.networks.lock.Lock()
	defer s.networks.lock.Unlock()
	for _, network := range s.networks.byGenesis {
		if network.genesis.Network == name {
			loaded, took := network.loading()
			nodes, spread = nodes+loaded, max(spread, took)
		}
	}
	return nodes, spread
}

func serveCluster(ctx context.Context, name string, config *rest.Config, networks *networks) error {
	// Pods of benchmarks are managed as well, and are not nodes.
	nodes := labels.Set{resources.LabelManagedBy: resources.ManagedBy, resources.LabelName: resources.Name}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		// Tests start it again and again.
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: labels.SelectorFromSet(nodes)},
		}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("stand-in: %w", err)
	}
	servers := &servers{
		client:   manager.GetClient(),
		reader:   manager.GetAPIReader(),
		networks: networks,
		running:  map[types.NamespacedName]*server{},
	}
	defer servers.close()
	if err := ctrl.NewControllerManagedBy(manager).Named(name).For(&corev1.Pod{}).Complete(servers); err != nil {
		return fmt.Errorf("stand-in: %w", err)
	}
	return manager.Start(ctx)
}

// servers are those of all pods of a cluster.
type servers struct {
	client   client.Reader
	reader   client.Reader
	networks *networks

	lock    sync.Mutex
	running map[types.NamespacedName]*server
}

// server is the one of a pod.
type server struct {
	pod  types.UID
	api  *api
	http []*http.Server
}

// Reconcile starts the server of a pod that runs and stops that of one that is
// gone.
func (s *servers) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	pod := &corev1.Pod{}
	err := s.client.Get(ctx, request.NamespacedName, pod)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	runs := err == nil && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != ""
	if known, ok := s.running[request.NamespacedName]; ok {
		if runs && known.pod == pod.UID {
			known.api.lack(pod.Annotations[AnnotationLacking])
			return ctrl.Result{}, nil
		}
		known.close()
		delete(s.running, request.NamespacedName)
	}
	if !runs {
		return ctrl.Result{}, nil
	}
	started, err := s.start(ctx, pod)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{RequeueAfter: mountInterval}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("start %s: %w", pod.Name, err)
	}
	s.running[request.NamespacedName] = started
	return ctrl.Result{}, nil
}

func (s *servers) start(ctx context.Context, pod *corev1.Pod) (*server, error) {
	files, err := mount(ctx, s.reader, pod)
	if err != nil {
		return nil, err
	}
	node, err := newNode(files, pod.Spec.SecurityContext.Sysctls)
	if err != nil {
		return nil, err
	}
	plain, admin, err := node.listen(ctx, pod.Status.PodIP)
	if err != nil {
		return nil, err
	}

	started := &server{pod: pod.UID, api: &api{node: node, network: s.networks.of(node, time.Now()), now: time.Now}}
	started.api.lack(pod.Annotations[AnnotationLacking])
	started.api.network.setRate(node.config.Node, 0, time.Now())
	started.serve(plain, started.api.handler())
	started.serve(admin, started.api.adminHandler())
	return started, nil
}

// listen has a node listen on an address of its own.
func (n *node) listen(ctx context.Context, ip string) (plain, admin net.Listener, err error) {
	plainPort, adminPort, err := n.ports()
	if err != nil {
		return nil, nil, err
	}
	plain, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(ip, plainPort))
	if err != nil {
		return nil, nil, err
	}
	admin, err = adminapi.Listen(ctx, net.JoinHostPort(ip, adminPort), n.key)
	if err != nil {
		return nil, nil, errors.Join(err, plain.Close())
	}
	return plain, admin, nil
}

func (s *server) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	s.http = append(s.http, server)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			ctrl.Log.Error(err, "stand-in ended", "node", s.api.config.Node)
		}
	}()
}

// close ends a server as a process that is killed ends.
func (s *server) close() {
	for _, server := range s.http {
		_ = server.Close()
	}
	s.api.network.stop(s.api.config.Node, time.Now())
}

func (s *servers) close() {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, running := range s.running {
		running.close()
	}
}
