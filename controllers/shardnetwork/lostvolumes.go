// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/controllers/reporting"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
)

const (
	// reasonVolumeReplaced and actionReplaceVolume are what events say of a node that
	// gets a new disk.
	reasonVolumeReplaced = "VolumeReplaced"
	actionReplaceVolume  = "ReplaceVolume"
)

// findLostDisks looks at what became of the disks of nodes that no machine takes.
// Claims are looked at in every run then. What cannot be looked at is not known to be
// gone.
func (r *run) findLostDisks(ctx context.Context) {
	if len(r.volumes) == 0 {
		return
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if !node.Unscheduled() {
			continue
		}
		r.memory.nextVolumes = r.now()
		if volume := &r.volumes[i]; r.looked && !volume.Unobserved && volume.Claim != nil {
			group.Go(func() error {
				node.LostDisk = r.siteOf(node.Validator).lostDisk(ctx, volume.Claim)
				return nil
			})
		}
	}
	_ = group.Wait()
}

// lostDisk is the disk of a claim if it is known to be gone.
func (s *site) lostDisk(ctx context.Context, claim *corev1.PersistentVolumeClaim) *observed.LostDisk {
	if lost := observed.LostClaim(claim); lost != nil || claim.Status.Phase != corev1.ClaimBound {
		return lost
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	volume := &corev1.PersistentVolume{}
	if err := s.reader.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil {
		return nil
	}
	machines := observed.MachinesOf(claim, volume)
	if len(machines) == 0 {
		return nil
	}
	if there, err := s.hasMachine(ctx, machines); err != nil || there {
		return nil
	}
	return observed.LostWithMachines(claim, volume)
}

// hasMachine says whether the cluster has one of the machines that a volume names: by
// their label for that or by their name, which mostly are the same. It asks the API
// server: what a cache keeps of machines is without labels, and may be old.
func (s *site) hasMachine(ctx context.Context, names []string) (bool, error) {
	labelled, err := labels.NewRequirement(corev1.LabelHostname, selection.In, names)
	if err != nil {
		return false, err
	}
	found := &corev1.NodeList{}
	err = s.reader.List(ctx, found, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*labelled)}, client.Limit(1))
	if err != nil || len(found.Items) > 0 {
		return true, err
	}
	for _, name := range names {
		err := s.reader.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{})
		if !apierrors.IsNotFound(err) {
			return true, err
		}
	}
	return false, nil
}

// replaceLostDisks gives the node a new disk that policy picks, given whether another one
// goes in this run: its StatefulSet makes claim and pod again. What was seen of disks is
// in nobody's status, so that another operator waits as long again.
func (r *run) replaceLostDisks(ctx context.Context, goes bool) error {
	lost := replacing.NewLostVolumes(r.observation, r.memory.lostDisks, r.memory.newDisk, goes)
	if len(lost.Replace) > 0 {
		changed, err := r.changedByNow(ctx)
		if err != nil {
			return err
		}
		if changed {
			lost = replacing.NewLostVolumes(r.observation, r.memory.lostDisks, r.memory.newDisk, goes)
		}
	}
	r.memory.lostDisks = lost.Disks
	for i := range r.observation.Nodes {
		node := &r.observation.Nodes[i]
		if disk, ok := lost.Disks[node.Validator.Name]; ok {
			node.LostDisk = &disk
		}
	}
	for _, i := range lost.Replace {
		if err := r.replaceDisk(ctx, &r.observation.Nodes[i], r.volumes[i].Claim); err != nil {
			return err
		}
	}
	return nil
}

// errNotAsSeen is about what changed since it was looked at.
var errNotAsSeen = errors.New("it is not as it was seen")

// replaceDisk deletes the claim of a node and then its pod, if both are as they were
// seen: the claim by its version, and the pod as it is now, because a machine that
// takes it by now has the disk.
func (r *run) replaceDisk(ctx context.Context, node *observed.Node, claim *corev1.PersistentVolumeClaim) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s := r.siteOf(node.Validator)
	switch err := s.deleteClaim(ctx, node.Pod, claim); {
	case errors.Is(err, errNotAsSeen):
		return nil
	case apierrors.IsForbidden(err):
		node.LostDisk.Refuse(s.cluster, err)
		return nil
	case err != nil:
		return s.wrap(fmt.Errorf("delete claim %s: %w", claim.Name, err))
	}
	r.memory.newDisk = replacing.NewDisk{Name: node.Validator.Name, At: r.now()}
	delete(r.memory.lostDisks, node.Validator.Name)
	r.recorder.Eventf(r.network, node.Pod, corev1.EventTypeWarning, reasonVolumeReplaced, actionReplaceVolume, "%s", reporting.Note(
		fmt.Sprintf("the disk of %s is gone: %s; its claim and its pod are deleted, and it begins on an empty disk",
			node.Validator.Name, node.LostDisk.Why)))
	return s.wrap(r.deletePod(ctx, node))
}

// deleteClaim deletes a claim, unless it or the pod that waits for it is another by
// now than it was.
func (s *site) deleteClaim(ctx context.Context, pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) error {
	present := &corev1.Pod{}
	if err := s.reader.Get(ctx, client.ObjectKeyFromObject(pod), present); err != nil {
		return ifSeen(err)
	}
	if present.UID != pod.UID || !observed.Unscheduled(present) {
		return errNotAsSeen
	}
	return ifSeen(s.client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion}))
}

// ifSeen is the error of a request about something that may have changed.
func ifSeen(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return errNotAsSeen
	}
	return err
}
