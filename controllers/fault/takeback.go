// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// notTakenBackError is why nodes could not be told that a fault is over.
type notTakenBackError struct {
	cause error
}

func (e *notTakenBackError) Error() string { return "end the fault: " + e.cause.Error() }

func (e *notTakenBackError) Unwrap() error { return e.cause }

// goAway takes back a fault that is deleted, and lets it go then.
func (r *run) goAway(ctx context.Context) error {
	r.gone = true
	if !controllerutil.ContainsFinalizer(r.fault, finalizer) {
		return nil
	}
	if faultpolicy.Ended(r.status.Phase) {
		// By now the network may have another fault.
		return r.tidy(ctx)
	}
	observation, err := r.observe(ctx)
	if err != nil {
		return err
	}
	over, err := r.takeBack(ctx, observation, r.fault.DeletionTimestamp)
	if err != nil {
		return errors.Join(r.explain(err), r.report(ctx))
	}
	if over {
		return r.letGo(ctx)
	}
	r.gone = false
	faultpolicy.Deleted(r.fault, r.status, r.now())
	return r.report(ctx)
}

// tidy lets a fault go that has ended: nothing of it is left to take back.
func (r *run) tidy(ctx context.Context) error {
	pod := &corev1.Pod{}
	// What a pod that has ended wrote into its log is worth reading.
	if found, err := r.objects.Find(ctx, pod, "Pod", resources.WatcherName(r.fault.Name)); err == nil && found && !pods.Ended(pod) {
		if err := r.delete(ctx, pod); err != nil {
			return err
		}
	}
	return r.letGo(ctx)
}

// delete deletes the pod that measures. Nothing moves while one that is being deleted already is
// not gone yet: an event says when it is.
func (r *run) delete(ctx context.Context, pod *corev1.Pod) error {
	deleted, err := r.objects.Delete(ctx, pod, metav1.DeletePropagationBackground)
	r.moved = deleted
	return err
}

// takeBack ends the pod that measures, and then the fault of nodes that it may have
// begun. It says whether nothing is left to be ended.
func (r *run) takeBack(ctx context.Context, observation *faultpolicy.Observation, since *metav1.Time) (bool, error) {
	if pod := observation.Pod; pod != nil && !pods.Ended(pod) {
		return false, r.delete(ctx, pod)
	}
	network := observation.Network
	part := fault.PartInPod(&r.fault.Spec)
	if r.status.PodUID == "" || part == "" || network == nil || string(network.UID) != r.status.NetworkUID {
		return true, nil
	}
	if part == fault.Process {
		// Nobody is there to be told.
		over := since == nil || faultpolicy.OverByItself(r.fault, since.Time, r.now())
		r.moved = over
		return over, nil
	}
	err := r.endNodeFaults(ctx)
	if err != nil && since != nil && faultpolicy.OverByItself(r.fault, since.Time, r.now()) {
		ctrl.LoggerFrom(ctx).Info("nodes that were not told ended the fault by their own clocks", "reason", err.Error())
		return true, nil
	}
	if err != nil {
		return false, &notTakenBackError{cause: err}
	}
	return true, nil
}

// endNodeFaults has all nodes that run end the faults that they keep.
func (r *run) endNodeFaults(ctx context.Context) error {
	pods, err := r.nodePods(ctx)
	if err != nil {
		return err
	}
	token, err := r.adminToken(ctx)
	if err != nil {
		return err
	}
	keys, err := r.nodeKeys(ctx)
	if err != nil {
		return err
	}
	var nodes []*chain.Client
	defer func() {
		for _, node := range nodes {
			node.Close()
		}
	}()
	for name, pod := range pods {
		// A process that begins knows of no fault.
		if pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "" {
			nodes = append(nodes, newNode(pod.Status.PodIP, keys[name], token))
		}
	}
	return faulting.EndFaults(ctx, fault.PartInPod(&r.fault.Spec), nodes)
}

// adminToken is what opens the admin API of the network's nodes.
func (r *run) adminToken(ctx context.Context) (string, error) {
	token := &corev1.Secret{}
	if err := r.readOfNetwork(ctx, resources.AdminTokenName(r.fault.Spec.NetworkName), token); err != nil {
		return "", err
	}
	return resources.AdminToken(token), nil
}

// nodeKeys are the keys by which the network's nodes are known, by their names.
func (r *run) nodeKeys(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	genesis, peers := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if err := r.readOfNetwork(ctx, resources.GenesisName(r.fault.Spec.NetworkName), genesis); err != nil {
		return nil, err
	}
	// It goes before its network, and validators are known without it.
	err := r.readOfNetwork(ctx, resources.PeersName(r.fault.Spec.NetworkName), peers)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return nodeconfig.NodeKeys([]byte(resources.GenesisFile(genesis)), resources.PeersFiles(peers)...)
}

func (r *run) readOfNetwork(ctx context.Context, name string, object client.Object) error {
	if err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.fault.Namespace, Name: name}, object); err != nil {
		return fmt.Errorf("read how nodes are reached: %w", err)
	}
	return nil
}

// newNode is a client of the node at an address, if it holds a key.
func newNode(ip string, key ed25519.PublicKey, token string) *chain.Client {
	address := func(port int) string { return net.JoinHostPort(ip, strconv.Itoa(port)) }
	return chain.NewClient(address(topology.DefaultPorts.HTTP), chain.Admin{
		Address: address(topology.DefaultPorts.Admin), PublicKey: key, Token: token,
	})
}
