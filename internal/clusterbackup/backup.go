// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// BackupOptions say what is kept.
type BackupOptions struct {
	Options

	// Network is the name of the network.
	Network string
	// Nodes are those whose data is kept; all of them without one.
	Nodes []string
}

// Backup keeps a network that is stopped: what makes it the network that it is, keys
// included, and the data of nodes. Each node's disk is read by a pod of its own.
func Backup(ctx context.Context, options BackupOptions) (_ *backup.Manifest, err error) {
	if err := checkURL(options.URL); err != nil {
		return nil, err
	}
	k := &keeping{options: &options}
	if err := k.read(ctx); err != nil {
		return nil, err
	}
	if options.Image == "" {
		images, err := FindImages(ctx, options.Client)
		if err != nil {
			return nil, err
		}
		options.Image = images.Operator
	}
	if k.run, err = begin(ctx, &options.Options); err != nil {
		return nil, err
	}
	defer func() { err = k.run.close(ctx, err) }()
	return k.head, k.keep(ctx)
}

// keeping is one run of Backup.
type keeping struct {
	options *BackupOptions
	run     *run

	network *v1alpha1.ShardNetwork
	plan    *topology.Plan
	nodes   []topology.Validator
	head    *backup.Manifest
}

// read finds what is to be kept, and refuses what cannot be.
func (k *keeping) read(ctx context.Context) (err error) {
	if k.network, err = k.stopped(ctx); err != nil {
		return err
	}
	if k.plan, err = topology.New(k.network); err != nil {
		return err
	}
	if k.nodes, err = chosen(k.plan, k.options.Nodes); err != nil {
		return err
	}
	for _, node := range k.nodes {
		key := client.ObjectKey{Namespace: k.network.Namespace, Name: resources.ClaimName(node.Name)}
		if err := k.options.Client.Get(ctx, key, &corev1.PersistentVolumeClaim{}); err != nil {
			return fmt.Errorf("find the disk of %s: %w", node.Name, err)
		}
	}
	document := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: k.network.Namespace, Name: resources.GenesisName(k.network.Name)}
	if err := k.options.Client.Get(ctx, key, document); err != nil {
		return fmt.Errorf("find the genesis document: %w", err)
	}
	verifier, err := proof.New([]byte(resources.GenesisFile(document)))
	if err != nil {
		return err
	}
	k.head = &backup.Manifest{
		Version: backup.Version, Network: k.network.Name, GenesisHash: verifier.GenesisHash(), CreatedAtMs: time.Now().UnixMilli(),
	}
	for _, node := range k.nodes {
		k.head.Nodes = append(k.head.Nodes, backup.Node{Name: node.Name})
	}
	return nil
}

// stopped reads the network, and refuses one whose files may change.
func (k *keeping) stopped(ctx context.Context) (*v1alpha1.ShardNetwork, error) {
	network, pods := &v1alpha1.ShardNetwork{}, &corev1.PodList{}
	key := client.ObjectKey{Namespace: k.options.Namespace, Name: k.options.Network}
	if err := k.options.Client.Get(ctx, key, network); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("there is no network %s in the namespace %s", key.Name, key.Namespace)
		}
		return nil, err
	}
	if err := k.options.Client.List(ctx, pods, client.InNamespace(key.Namespace),
		client.MatchingLabels{resources.LabelNetwork: key.Name}); err != nil {
		return nil, err
	}
	return network, checkStopped(network, len(pods.Items))
}

// keep makes the backup.
func (k *keeping) keep(ctx context.Context) (err error) {
	manifest, err := manifestOf(k.network)
	if err != nil {
		return err
	}
	files, err := resources.BackupFiles(manifest, k.head)
	if err != nil {
		return err
	}
	if err := k.run.hold(ctx, k.network.Name, files); err != nil {
		return err
	}
	first := k.run.NewNetworkKeeper(k.network, k.plan)
	if err := k.run.do(ctx, first); err != nil {
		if leftNothing(first, err) {
			return err
		}
		// Whether the place was empty only the pod knew, so nobody removes anything.
		return joined(err, fmt.Errorf("pod %s, which did not say how it ended, may have left files of the network at %s, "+
			"with keys: what is there now, and was not before, is no backup, and is to be removed", first.Name, k.options.URL))
	}
	defer func() {
		if err != nil {
			err = joined(err, k.clear(ctx))
		}
	}()
	k.run.tell("kept the manifest, the genesis document and the keys")
	if err := k.keepNodes(ctx); err != nil {
		return err
	}
	// What was copied belongs together only if no node ran meanwhile.
	switch again, err := k.stopped(ctx); {
	case err != nil:
		return fmt.Errorf("the network did not stay stopped: %w", err)
	case again.UID != k.network.UID || again.Generation != k.network.Generation:
		return fmt.Errorf("the network did not stay stopped: somebody changed %s meanwhile", again.Name)
	}
	return k.run.do(ctx, k.run.NewSealer(k.network))
}

func (k *keeping) keepNodes(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(k.options.AtOnce)
	for _, node := range k.nodes {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := k.run.do(ctx, k.run.NewNodeKeeper(k.network, node)); err != nil {
				return fmt.Errorf("keep the data of %s: %w", node.Name, err)
			}
			k.run.tell("kept the data of %s", node.Name)
			return nil
		})
	}
	return group.Wait()
}

// leftNothing says of the pod that begins a backup, and failed with an error, that it wrote
// nothing: it removes what it wrote, unless it is killed before that. One that nobody knows
// to be there may have run all the same.
func leftNothing(pod *corev1.Pod, err error) bool {
	if pod.UID == "" {
		return refused(err)
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.State.Terminated != nil && strings.Contains(status.State.Terminated.Message, errorPrefix)
	})
}

// clear has what there is of a backup that failed be removed, also for somebody who ended
// it, once nobody writes any more.
func (k *keeping) clear(ctx context.Context) error {
	if err := k.clearPlace(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("something of it may be left at the place, which has keys, and is a backup only if it has %s: remove it otherwise: %w",
			backup.ManifestFile, err)
	}
	return nil
}

// clearPlace has a pod remove it, which has to begin soon, and has as much to remove as others
// copied in hours.
func (k *keeping) clearPlace(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, k.run.haste())
	defer cancel()
	if err := k.run.removePods(soon); err != nil {
		return err
	}
	pod := k.run.NewClearer(k.network)
	if err := k.run.Client.Create(soon, pod); err != nil {
		return err
	}
	if err := k.run.await(soon, pod, func() bool { return pod.Status.Phase != "" && pod.Status.Phase != corev1.PodPending }); err != nil {
		return err
	}
	k.run.tell("removing what was kept of it")
	return k.run.finish(ctx, pod)
}
