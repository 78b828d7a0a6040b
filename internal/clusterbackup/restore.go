// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// RestoreOptions say what is put back.
type RestoreOptions struct {
	Options

	// Manifest is that of the network; nil for the one of the backup.
	Manifest []byte
	// Nodes are those whose data is put back; all that the backup has without one.
	Nodes []string
	// Replace lets what is on disks that are there go.
	Replace bool
	// NodeImage is that of networks that name none; empty for what the operator says.
	NodeImage string
	// Forward leads to a port of a pod for as long as serve lasts.
	Forward func(ctx context.Context, pod *corev1.Pod, port int, serve func(address string) error) error
}

// Restore makes what a network needs to go on from a backup: its keys, its genesis document
// and its disks, all but the network itself, which is the result. Until whoever gets that
// applies it, nothing of it runs, and what is there of a restore that did not come to its
// end lets no node start: the keys come last, and without them the operator makes none.
func Restore(ctx context.Context, options RestoreOptions) (_ *backup.Manifest, _ *v1alpha1.ShardNetwork, err error) {
	if err := checkURL(options.URL); err != nil {
		return nil, nil, err
	}
	if err := options.findImages(ctx); err != nil {
		return nil, nil, err
	}
	b := &bringing{options: &options}
	if b.run, err = begin(ctx, &options.Options); err != nil {
		return nil, nil, err
	}
	defer func() { err = b.run.close(ctx, err) }()
	if b.from, err = b.read(ctx); err != nil {
		return nil, nil, fmt.Errorf("read the backup: %w", err)
	}
	if b.restored, err = planRestore(b.from, options.Manifest, options.Namespace, options.Nodes); err != nil {
		return nil, nil, err
	}
	if err := b.run.hold(ctx, b.network.Name, nil); err != nil {
		return nil, nil, err
	}
	if err := b.check(ctx); err != nil {
		return nil, nil, err
	}
	return &b.from.Of, b.network, b.bring(ctx)
}

// findImages asks the operator for those that nobody named.
func (o *RestoreOptions) findImages(ctx context.Context) error {
	if o.Image != "" {
		return nil
	}
	images, err := FindImages(ctx, o.Client)
	if err != nil {
		return err
	}
	o.Image = images.Operator
	if o.NodeImage == "" {
		o.NodeImage = images.Node
	}
	return nil
}

// bringing is one run of Restore.
type bringing struct {
	*restored

	options *RestoreOptions
	run     *run
	from    *contents
	there   there
}

// read has a pod show what the backup has of the network.
func (b *bringing) read(ctx context.Context) (*contents, error) {
	password := rand.Text()
	pod := b.run.NewContentsServer(hashOf(password))
	if err := b.run.Client.Create(ctx, pod); err != nil {
		return nil, err
	}
	began := time.Now()
	for {
		if err := b.run.await(ctx, pod, func() bool { return pod.Status.Phase == corev1.PodRunning }); err != nil {
			return nil, err
		}
		var read *contents
		err := b.options.Forward(ctx, pod, resources.ContentsPort, func(address string) (err error) {
			read, err = fetchContents(ctx, address, password)
			return err
		})
		if err == nil {
			return read, client.IgnoreNotFound(b.run.Client.Delete(ctx, pod))
		}
		// A pod that runs may not answer yet, and one that fails says so. Who may forward no
		// ports is never answered.
		if lasting(err) || time.Since(began) > b.run.patience() {
			return nil, fmt.Errorf("pod %s does not answer: %w", pod.Name, err)
		}
		if ended := b.run.pause(ctx); ended != nil {
			return nil, err
		}
	}
}

// bring makes everything. The genesis document comes first and the keys last: the operator
// makes no network with one of them and without the others.
func (b *bringing) bring(ctx context.Context) error {
	for _, class := range resources.NewStorageClasses(b.network) {
		if err := b.make(ctx, class); err != nil {
			return err
		}
	}
	if err := b.make(ctx, resources.RestoredGenesis(b.network, b.genesis)); err != nil {
		return err
	}
	// Somebody may have applied the network meanwhile, which then has others.
	if err := b.checkKept(ctx); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	for _, node := range b.nodes {
		if err := b.mark(ctx, node, ""); err != nil {
			return err
		}
	}
	if b.token != "" {
		if err := b.make(ctx, resources.RestoredAdminToken(b.network, b.token)); err != nil {
			return err
		}
	}
	for _, node := range b.plan.Nodes {
		if err := b.make(ctx, resources.RestoredKey(b.network, node, b.keys[node.Name])); err != nil {
			return err
		}
	}
	return nil
}

// make creates an object that may be there: what is there is compared by itself.
func (b *bringing) make(ctx context.Context, object client.Object) error {
	err := b.run.Client.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// fill puts the data of nodes onto their disks, of some at a time. A pod decides where a
// disk is made, so the next is made once it has a machine.
func (b *bringing) fill(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.options.AtOnce)
	placing := make(chan struct{}, 1)
	for _, node := range b.nodes {
		if b.there.filled[node.Name] {
			b.run.tell("the data of %s is there already", node.Name)
			continue
		}
		group.Go(func() error {
			if err := b.fillNode(ctx, node, placing); err != nil {
				return fmt.Errorf("put back the data of %s: %w", node.Name, err)
			}
			b.run.tell("put back the data of %s", node.Name)
			return nil
		})
	}
	return group.Wait()
}

func (b *bringing) fillNode(ctx context.Context, node topology.Validator, placing chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case placing <- struct{}{}:
	}
	pod, err := b.placeRestorer(ctx, node)
	<-placing
	if err != nil {
		return err
	}
	if err := b.run.finish(ctx, pod); err != nil {
		return err
	}
	return b.mark(ctx, node, filledWith(b.from.ID))
}

// placeRestorer makes the claim of a node and the pod that fills it, and waits until the
// pod has a machine.
func (b *bringing) placeRestorer(ctx context.Context, node topology.Validator) (*corev1.Pod, error) {
	claim := resources.RestoredClaim(b.network, node)
	claim.Annotations = map[string]string{resources.AnnotationRestore: fillingWith(b.from.ID)}
	switch err := b.run.Client.Create(ctx, claim); {
	case apierrors.IsAlreadyExists(err):
		if err := b.mark(ctx, node, fillingWith(b.from.ID)); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	pod := b.run.NewNodeRestorer(b.network, node, b.there.machines)
	if err := b.run.place(ctx, pod); err != nil {
		return nil, err
	}
	b.there.machines[pod.Spec.NodeName]++
	return pod, nil
}

// mark says on a claim how far its disk is; empty takes back what was said.
func (b *bringing) mark(ctx context.Context, node topology.Validator, state string) error {
	claim := &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: b.network.Namespace, Name: resources.ClaimName(node.Name)}
	if err := b.run.Client.Get(ctx, key, claim); err != nil {
		return err
	}
	before := claim.DeepCopy()
	if state == "" {
		delete(claim.Annotations, resources.AnnotationRestore)
	} else {
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[resources.AnnotationRestore] = state
	}
	return b.run.Client.Patch(ctx, claim, client.MergeFrom(before))
}
