// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// bring makes everything. The genesis document comes first and the keys last: the operator
// makes no network with one of them and without the others. Keys may have been retained, so
// the document is marked until all is there.
func (b *bringing) bring(ctx context.Context) error {
	for _, class := range resources.NewStorageClasses(b.network) {
		if err := b.make(ctx, class); err != nil {
			return err
		}
	}
	// It says from the beginning that not all is there.
	document := resources.RestoredGenesis(b.network, b.genesis)
	document.Annotations = map[string]string{resources.AnnotationRestore: b.genesisMark()}
	if err := b.make(ctx, document); err != nil {
		return err
	}
	// Somebody may have applied the network meanwhile, which then has others.
	if err := b.checkKept(ctx); err != nil {
		return err
	}
	if err := b.markGenesis(ctx, b.genesisMark()); err != nil {
		return err
	}
	if err := b.checkNobody(ctx); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	if err := errors.Join(b.checkFilled(ctx), b.checkNobody(ctx)); err != nil {
		return err
	}
	if err := b.makeSecrets(ctx); err != nil {
		return err
	}
	if err := b.markGenesis(ctx, ""); err != nil {
		return err
	}
	// Of no use any more, and of no harm.
	for _, node := range b.nodes {
		if err := b.markClaim(ctx, node, ""); err != nil {
			b.run.tell("warning: take the annotation %s from the claim of %s: %v", resources.AnnotationRestore, node.Name, err)
		}
	}
	return nil
}

// checkFilled refuses disks that went while others came: a node would begin on an empty one.
func (b *bringing) checkFilled(ctx context.Context) error {
	for _, node := range b.nodes {
		claim := &corev1.PersistentVolumeClaim{}
		switch found, err := b.find(ctx, resources.RestoredClaim(b.network, node), claim); {
		case err != nil:
			return err
		case !found || claim.Annotations[resources.AnnotationRestore] != filled+b.there.restore:
			return fmt.Errorf("the disk of %s did not stay: somebody deleted the claim %s meanwhile", node.Name, resources.ClaimName(node.Name))
		}
	}
	return nil
}

// makeSecrets makes the Secrets. One that is there was compared before, but for one that the
// operator made meanwhile of a network that was applied too early.
func (b *bringing) makeSecrets(ctx context.Context) error {
	if b.token != "" {
		if err := b.make(ctx, resources.RestoredAdminToken(b.network, b.token)); err != nil {
			return err
		}
	}
	for _, node := range b.plan.Nodes {
		secret := resources.RestoredKey(b.network, node, b.keys[node.Name])
		if err := b.make(ctx, secret); err != nil {
			return err
		}
		live := &corev1.Secret{}
		if err := b.run.Client.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
			return err
		}
		if !bytes.Equal(bytes.TrimSpace(resources.KeyFile(live)), bytes.TrimSpace(b.keys[node.Name])) {
			return fmt.Errorf("the Secret %s got another key meanwhile: delete the network %s and the Secret, and restore again",
				live.Name, b.network.Name)
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
	return b.markClaim(ctx, node, filled+b.there.restore)
}

// placeRestorer makes the claim of a node and the pod that fills it, and waits until the
// pod has a machine.
func (b *bringing) placeRestorer(ctx context.Context, node topology.Validator) (*corev1.Pod, error) {
	claim := resources.RestoredClaim(b.network, node)
	claim.Annotations = map[string]string{resources.AnnotationRestore: filling + b.there.restore}
	switch err := b.run.Client.Create(ctx, claim); {
	case apierrors.IsAlreadyExists(err):
		if err := b.markClaim(ctx, node, filling+b.there.restore); err != nil {
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

// markGenesis says on the genesis document that not all is there; empty takes it back.
func (b *bringing) markGenesis(ctx context.Context, state string) error {
	document := &corev1.ConfigMap{}
	document.Namespace, document.Name = b.network.Namespace, resources.GenesisName(b.network.Name)
	return b.mark(ctx, document, state)
}

// markClaim says on a claim how far its disk is.
func (b *bringing) markClaim(ctx context.Context, node topology.Validator, state string) error {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name = b.network.Namespace, resources.ClaimName(node.Name)
	return b.mark(ctx, claim, state)
}

func (b *bringing) mark(ctx context.Context, object client.Object, state string) error {
	if err := b.run.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	before := object.DeepCopyObject().(client.Object)
	said := maps.Clone(object.GetAnnotations())
	if said == nil {
		said = map[string]string{}
	}
	said[resources.AnnotationRestore] = state
	if state == "" {
		delete(said, resources.AnnotationRestore)
	}
	object.SetAnnotations(said)
	return b.run.Client.Patch(ctx, object, client.MergeFrom(before))
}
