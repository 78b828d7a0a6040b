// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// nodeTimeout bounds how long one node keeps a reconciliation waiting.
	nodeTimeout = 2 * time.Second
	// parallelNodes is how many nodes are asked at a time.
	parallelNodes = 32
)

// observe looks at every node of the plan: its StatefulSet and pod in the
// cluster, and what it says itself.
func (r *run) observe(ctx context.Context) error {
	observation := &observed.Network{Network: r.network, Wanted: r.wanted, Plan: r.plan, Now: r.now()}
	nodes := make(map[string]observed.Node, len(r.plan.Nodes))
	for _, s := range r.sites {
		observation.Unapplied = observation.Unapplied || !s.applied
		observation.Settling = observation.Settling || s.settling
		if err := s.observe(ctx, observation, nodes); err != nil {
			return s.wrap(err)
		}
	}
	for i, validator := range r.plan.Nodes {
		node := nodes[validator.Name]
		if len(r.volumes) > 0 && !node.Outdated && r.volumes[i].AwaitsStart(node.Pod, observation.Now) {
			node.Outdated, node.AwaitsStart = true, true
		}
		observation.Nodes = append(observation.Nodes, node)
	}
	r.observation = observation
	var err error
	if r.genesisKeys, err = r.home().namedKeys(ctx); err != nil {
		return err
	}
	r.askNodes(ctx)
	r.findLostDisks(ctx)
	return r.readWarnings(ctx)
}

// observe looks at the nodes of one cluster. Of one that cannot be used now it
// takes where its nodes last were, to ask themselves.
func (s *site) observe(ctx context.Context, observation *observed.Network, nodes map[string]observed.Node) error {
	setOf, podOf := map[string]*appsv1.StatefulSet{}, map[string]*corev1.Pod{}
	if s.lost == nil || s.seen {
		sets, pods := &appsv1.StatefulSetList{}, &corev1.PodList{}
		for _, list := range []client.ObjectList{sets, pods} {
			if err := s.client.List(ctx, list, client.InNamespace(s.network.Namespace),
				client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
				return fmt.Errorf("list %T: %w", list, err)
			}
		}
		if err := s.recallToken(ctx); err != nil {
			return err
		}
		for i := range sets.Items {
			setOf[sets.Items[i].Name] = &sets.Items[i]
		}
		s.setUIDs = s.uidsOf(sets)
		podOf = s.podsOf(pods)
	}
	for _, validator := range s.validators {
		set, pod := setOf[validator.Name], podOf[resources.PodName(validator.Name)]
		if s.lost != nil {
			nodes[validator.Name] = observed.Node{Validator: validator, Pod: pod, LetGo: letGo(pod), Unobserved: true}
			continue
		}
		observation.Settling = observation.Settling || !settled(set)
		nodes[validator.Name] = observed.Node{
			Validator: validator, Pod: pod, LetGo: letGo(pod), Outdated: outdated(set, pod),
		}
	}
	if s.lost == nil && len(s.validators) > 0 {
		s.observeMachines(ctx, observation, nodes)
	}
	return nil
}

// uidsOf are those of the StatefulSets of a list that no earlier network of this name has.
func (s *site) uidsOf(list *appsv1.StatefulSetList) map[types.UID]bool {
	uids := make(map[types.UID]bool, len(list.Items))
	for i := range list.Items {
		if set := &list.Items[i]; s.owns(set) || s.disowned(set) {
			uids[set.UID] = true
		}
	}
	return uids
}

// podsOf are the network's pods of a list, by name. Those of an earlier network of its name
// run its chain until they are gone.
func (s *site) podsOf(list *corev1.PodList) map[string]*corev1.Pod {
	pods := make(map[string]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		if pod := &list.Items[i]; !s.isPredecessors(pod) {
			pods[pod.Name] = pod
		}
	}
	return pods
}

// isPredecessors says whether a pod is of an earlier network of the name: it was there
// before the network, and nothing that is there has it. One that lost its StatefulSet while
// that is made anew has no owner.
func (s *site) isPredecessors(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && !s.setUIDs[owner.UID] && pod.CreationTimestamp.Before(&s.network.CreationTimestamp)
}

// letGo says whether a pod may be evicted.
func letGo(pod *corev1.Pod) bool {
	return pod != nil && pod.Labels[resources.LabelEviction] == resources.EvictionAllowed
}

// recallToken takes the token of the admin API from the cache when it was not
// read in this run.
func (s *site) recallToken(ctx context.Context) error {
	if s.adminToken != "" || len(s.validators) == 0 {
		return nil
	}
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: s.network.Namespace, Name: resources.AdminTokenName(s.network.Name)}
	if err := s.client.Get(ctx, key, secret); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read admin token: %w", err)
	}
	s.adminToken = resources.AdminToken(secret)
	return nil
}

// namedKeys are the public keys of the genesis document, by validator: none while
// there is no document that can be read.
func (s *site) namedKeys(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	document := &corev1.ConfigMap{}
	key := types.NamespacedName{Namespace: s.network.Namespace, Name: resources.GenesisName(s.network.Name)}
	switch err := s.client.Get(ctx, key, document); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	named, err := nodeconfig.PublicKeys([]byte(resources.GenesisFile(document)))
	if err != nil {
		// A condition says so. Nobody is told anything meanwhile.
		return nil, nil //nolint:nilerr // It is not this run that has to mend it.
	}
	return named, nil
}

// settled says whether the cluster has taken up the latest StatefulSet, which stays.
func settled(set *appsv1.StatefulSet) bool {
	return set != nil && set.DeletionTimestamp == nil && set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision != ""
}

// outdated says whether a pod was made from an earlier StatefulSet.
func outdated(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	return pod != nil && settled(set) &&
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] != set.Status.UpdateRevision
}

// askNodes asks every node that has an address for its status, and those that
// are not ready why. A node that does not answer is an observation, no error.
func (r *run) askNodes(ctx context.Context) {
	used := map[nodeKey]bool{}
	var group errgroup.Group
	group.SetLimit(parallelNodes)
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if node.Pod == nil || node.Pod.Status.PodIP == "" || node.Pod.Status.Phase != corev1.PodRunning {
			continue
		}
		used[r.keyOf(node)] = true
		api := r.nodeClient(node)
		group.Go(func() error {
			ask(ctx, api, node)
			return nil
		})
	}
	_ = group.Wait()
	r.rememberTCP()

	for key, api := range r.memory.nodes {
		if !used[key] {
			api.Close()
			delete(r.memory.nodes, key)
		}
	}
}

// rememberTCP keeps what nodes said of the settings that their kernels use, for those that
// do not answer: another pod has other settings.
func (r *run) rememberTCP() {
	said := map[types.UID]*chain.TCP{}
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if node.Pod == nil {
			continue
		}
		if node.Status != nil {
			said[node.Pod.UID] = &node.Status.TCP
			continue
		}
		if last := r.memory.tcp[node.Pod.UID]; last != nil {
			node.LastTCP, said[node.Pod.UID] = last, last
		}
	}
	r.memory.tcp = said
}

// keyOf is how a node with a running pod is reached: by the address of the pod,
// the key that the genesis document names it by, and the token of its cluster.
func (r *run) keyOf(node *observed.Node) nodeKey {
	return nodeKey{
		ip:        node.Pod.Status.PodIP,
		publicKey: string(r.genesisKeys[node.Validator.Name]),
		token:     r.siteOf(node.Validator).adminToken,
	}
}

func (r *run) nodeClient(node *observed.Node) *chain.Client {
	key := r.keyOf(node)
	api, ok := r.memory.nodes[key]
	if !ok {
		api = r.newNodeClient(key)
		r.memory.nodes[key] = api
	}
	return api
}

func (r *run) newNodeClient(key nodeKey) *chain.Client {
	var admin chain.Admin
	if key.opens() {
		admin = chain.Admin{
			Address:   net.JoinHostPort(key.ip, strconv.Itoa(r.plan.Ports.Admin)),
			PublicKey: ed25519.PublicKey(key.publicKey),
			Token:     key.token,
		}
	}
	return chain.NewClient(net.JoinHostPort(key.ip, strconv.Itoa(r.plan.Ports.HTTP)), admin)
}

func ask(ctx context.Context, api *chain.Client, node *observed.Node) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	status, err := api.Status(ctx)
	// Whoever has the address of a pod that went away may be another node.
	if err != nil || status.Node != node.Validator.Name {
		return
	}
	node.Status = status
	if node.Ready() {
		return
	}
	if readiness, err := api.Readiness(ctx); err == nil {
		node.NotReady, node.SaysReady = readiness.Reasons, readiness.Ready
	}
}
