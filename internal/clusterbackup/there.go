// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// annotationMachine is where the scheduler says which machine a claim was made for.
const annotationMachine = "volume.kubernetes.io/selected-node"

// there is what a cluster has of a network that is to be restored.
type there struct {
	// restore is what claims are marked with: this restore, or the one that it goes on with.
	// The same backup may come back to a network twice, and between that it ran.
	restore string
	// disks says which nodes have one whose data nobody puts back, and filled which have the
	// data of this backup, from a restore that did not come to its end.
	disks, filled map[string]bool
	// machines counts the disks that were made for each.
	machines map[string]int
}

// filling and filled are what a claim says, with the restore, while the backup comes onto
// its disk, and once it is there.
const filling, filled = "Filling ", "Filled "

// check refuses what would do harm to what is there, before anything is written.
func (b *bringing) check(ctx context.Context) error {
	if err := b.checkGone(ctx); err != nil {
		return err
	}
	if err := b.checkKept(ctx); err != nil {
		return err
	}
	if err := b.lookAtDisks(ctx); err != nil {
		return err
	}
	if err := b.plan.CheckMemory(func(name string) (bool, error) {
		return b.there.disks[name] || b.chose(name), nil
	}); err != nil {
		return err
	}
	return b.checkFormats(ctx)
}

// checkGone refuses a network that is there, and one of which pods may still have disks.
func (b *bringing) checkGone(ctx context.Context) error {
	name := b.network.Name
	err := b.run.Client.Get(ctx, client.ObjectKeyFromObject(b.network), &v1alpha1.ShardNetwork{})
	if err == nil {
		return fmt.Errorf("network %s is there already, in the namespace %s: delete it first", name, b.network.Namespace)
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	return b.checkNobody(ctx)
}

// checkNobody refuses a network of which nodes may have their disks.
func (b *bringing) checkNobody(ctx context.Context) error {
	name, namespace := b.network.Name, b.network.Namespace
	of := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{resources.LabelNetwork: name}}
	sets, pods := &appsv1.StatefulSetList{}, &corev1.PodList{}
	if err := errors.Join(b.run.Client.List(ctx, sets, of...), b.run.Client.List(ctx, pods, of...)); err != nil {
		return err
	}
	if count := len(sets.Items) + len(pods.Items); count > 0 {
		return fmt.Errorf("%d StatefulSets and pods of a network %s are there: delete it, and wait until they are gone", count, name)
	}
	return nil
}

// checkKept refuses keys and genesis documents that are there and are of another network.
func (b *bringing) checkKept(ctx context.Context) error {
	const mend = "kubectl delete configmap,secret -n %s -l %s=%s removes what an earlier network left of them"
	remove := fmt.Sprintf(mend, b.network.Namespace, resources.LabelNetwork, b.network.Name)
	document := resources.RestoredGenesis(b.network, b.genesis)
	live := &corev1.ConfigMap{}
	switch found, err := b.find(ctx, document, live); {
	case err != nil:
		return err
	case found && resources.GenesisFile(live) != resources.GenesisFile(document):
		return fmt.Errorf("the ConfigMap %s is the genesis document of another network: %s", live.Name, remove)
	}
	for _, node := range b.plan.Nodes {
		secret, live := resources.RestoredKey(b.network, node, b.keys[node.Name]), &corev1.Secret{}
		switch found, err := b.find(ctx, secret, live); {
		case err != nil:
			return err
		case found && !bytes.Equal(bytes.TrimSpace(resources.KeyFile(live)), bytes.TrimSpace(b.keys[node.Name])):
			return fmt.Errorf("the Secret %s holds another key than the backup: %s", live.Name, remove)
		}
	}
	// A token is nothing that the chain knows: one that is there stays.
	_, err := b.find(ctx, resources.RestoredAdminToken(b.network, ""), &corev1.Secret{})
	return err
}

// find reads an object that may be there, and refuses one that somebody else has or that is
// about to be gone.
func (b *bringing) find(ctx context.Context, wanted, live client.Object) (bool, error) {
	err := b.run.Client.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if owner := metav1.GetControllerOf(live); live.GetDeletionTimestamp() != nil || owner != nil {
		return false, goes(live, owner)
	}
	if live.GetLabels()[resources.LabelNetwork] != b.network.Name {
		return false, fmt.Errorf("%s belongs to somebody else", live.GetName())
	}
	return true, nil
}

// goes is about an object that nobody can have, as it is deleted or another's.
func goes(live client.Object, owner *metav1.OwnerReference) error {
	restored := live.GetAnnotations()[resources.AnnotationRestore] != ""
	switch {
	case restored && live.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s is of a restore of this network that did not come to its end, and somebody deleted it: "+
			"wait until it is gone, and restore again", live.GetName())
	case restored:
		return fmt.Errorf("%s is of a restore of this network that did not come to its end, and the %s %s, which was applied before that, "+
			"has it: delete that if it is there, wait until both are gone, and restore again", live.GetName(), owner.Kind, owner.Name)
	default:
		return fmt.Errorf("%s is still of an earlier network: wait until it is gone", live.GetName())
	}
}

// lookAtRestore sees whether another restore did not come to its end: one of the same backup
// is gone on with. None may leave nodes as that did, of which some have the data of its backup
// and others later data, or none: the chain would go on without votes that it had.
func (b *bringing) lookAtRestore(ctx context.Context) error {
	b.there.restore = b.from.ID + "-" + b.run.ID
	document := &corev1.ConfigMap{}
	found, err := b.find(ctx, resources.RestoredGenesis(b.network, nil), document)
	if err != nil || !found {
		return err
	}
	restore, nodes := unfinished(document)
	for _, name := range nodes {
		if !b.chose(name) {
			return fmt.Errorf("an earlier restore of network %s did not come to its end: put back at least all of its nodes, %s is one of them",
				b.network.Name, name)
		}
	}
	if strings.HasPrefix(restore, b.from.ID+"-") {
		b.there.restore = restore
	}
	return nil
}

// genesisMark is what the genesis document says until all is there: the restore, and the nodes whose
// data it puts back.
func (b *bringing) genesisMark() string {
	said := []string{b.there.restore}
	for _, node := range b.nodes {
		said = append(said, node.Name)
	}
	return strings.Join(said, " ")
}

// unfinished are the restore of which a genesis document says that it goes on, and its nodes.
func unfinished(document *corev1.ConfigMap) (restore string, nodes []string) {
	restore, names, _ := strings.Cut(document.Annotations[resources.AnnotationRestore], " ")
	return restore, strings.Fields(names)
}

// chose says whether the data of a node is put back.
func (b *bringing) chose(name string) bool {
	return slices.ContainsFunc(b.nodes, func(node topology.Validator) bool { return node.Name == name })
}

// lookAtDisks finds the claims that are there, and refuses those with data of others.
func (b *bringing) lookAtDisks(ctx context.Context) error {
	b.there = there{disks: map[string]bool{}, filled: map[string]bool{}, machines: map[string]int{}}
	if err := b.lookAtRestore(ctx); err != nil {
		return err
	}
	for _, node := range b.plan.Nodes {
		wanted, live := resources.RestoredClaim(b.network, node), &corev1.PersistentVolumeClaim{}
		found, err := b.find(ctx, wanted, live)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		chosen := b.chose(node.Name)
		state := live.Annotations[resources.AnnotationRestore]
		b.there.filled[node.Name] = state == filled+b.there.restore
		b.there.disks[node.Name] = !strings.HasPrefix(state, filling)
		if machine := live.Annotations[annotationMachine]; machine != "" && (!chosen || b.there.filled[node.Name]) {
			b.there.machines[machine]++
		}
		ours := state == filling+b.there.restore || b.there.filled[node.Name]
		if chosen && !ours && !b.options.Replace {
			return fmt.Errorf("%s has a disk already, by the claim %s: with --replace, what is on it is removed", node.Name, live.Name)
		}
		if words := otherClass(wanted, live); chosen && words != "" {
			b.run.tell("warning: the disk of %s stays that of the claim %s, %s: delete the claim first to have another",
				node.Name, live.Name, words)
		}
	}
	return nil
}

// otherClass says that the disk of a claim that is there is of another class than the manifest
// says; empty when it is not. The operator mends sizes, and nobody a class. A manifest that
// names none takes any.
func otherClass(wanted, live *corev1.PersistentVolumeClaim) string {
	want, is := ptr.Deref(wanted.Spec.StorageClassName, ""), ptr.Deref(live.Spec.StorageClassName, "")
	if want == "" || want == is {
		return ""
	}
	return fmt.Sprintf("which has the StorageClass %q, where the manifest says %q", is, want)
}

// checkFormats refuses data that the image of the nodes does not read. One that does not
// say what it reads is taken: its nodes refuse by themselves.
func (b *bringing) checkFormats(ctx context.Context) error {
	image := resources.NodeImage(b.network, b.options.NodeImage)
	if image == "" {
		return nil
	}
	pod := b.run.NewFormatsProbe(b.network, image)
	if err := b.run.do(ctx, pod); err != nil {
		if ctx.Err() != nil || pod.Status.Phase != corev1.PodFailed {
			return err
		}
		b.run.tell("%s does not say which formats it reads: %v", image, err)
		return nil
	}
	reads := formatsIn(pod)
	for _, node := range b.nodes {
		if had := b.from.Of.Node(node.Name).Formats; reads != "" && had != reads {
			return fmt.Errorf("the data of %s has formats %s, and %s reads %s: name the image that wrote it, by spec.node.image of a --manifest",
				node.Name, had, image, reads)
		}
	}
	return nil
}

// formatsIn is what a pod said of the formats of its program.
func formatsIn(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil {
			return string(bytes.TrimSpace([]byte(ended.Message)))
		}
	}
	return ""
}
