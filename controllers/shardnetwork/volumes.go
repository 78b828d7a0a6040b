// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// volumeInterval is how often the claims of a network are looked at that do not
// move: because they are as they should be, or because something keeps them.
const volumeInterval = time.Minute

// readVolumes looks at the disks of the nodes: at their claims now and then, which
// nobody keeps in a cache, and at their StatefulSets. That it cannot is an
// observation, no error: only the growth of disks depends on it.
func (r *run) readVolumes(ctx context.Context) {
	if r.network.Spec.Volume == nil {
		return
	}
	memory := r.memory
	look := memory.volumesGeneration != r.network.Generation || !r.now().Before(memory.nextVolumes)
	r.looked = look
	// What a cluster does not answer here is in what is known of its volumes.
	_ = r.onSites(ctx, func(ctx context.Context, s *site) error {
		if len(s.validators) == 0 {
			return nil
		}
		s.recallVolumes(memory.volumes)
		if look {
			if err := s.readClaims(ctx); err != nil {
				return err
			}
		}
		return s.readSets(ctx, s.client)
	})
	for _, validator := range r.plan.Nodes {
		s := r.siteOf(validator)
		volume, seen := s.volumes[validator.Name]
		volume.Validator, volume.Wanted = validator, resources.DiskOf(r.network, validator.Role).Volume.Size
		volume.Unobserved = !seen || s.lost != nil
		r.volumes = append(r.volumes, volume)
	}
	if look {
		r.memory.volumesGeneration = r.network.Generation
		r.planLook()
	}
	r.rememberVolumes()
}

// planLook has the claims be looked at again soon where something is about to change.
func (r *run) planLook() {
	interval := volumeInterval
	if policy.VolumesMove(r.volumes) {
		interval = pollInterval
	}
	r.memory.nextVolumes = r.now().Add(interval)
}

// rememberVolumes keeps what was seen of the claims. StatefulSets are looked at in
// every run.
func (r *run) rememberVolumes() {
	r.memory.volumes = make(map[string]policy.Volume, len(r.volumes))
	for _, volume := range r.volumes {
		if !volume.Unobserved {
			volume.Template = nil
			r.memory.volumes[volume.Validator.Name] = volume
		}
	}
}

// recallVolumes takes what was seen of the site's validators before.
func (s *site) recallVolumes(known map[string]policy.Volume) {
	s.volumes = map[string]policy.Volume{}
	for _, validator := range s.validators {
		if volume, ok := known[validator.Name]; ok {
			s.volumes[validator.Name] = volume
		}
	}
}

// readClaims looks at the claims of the site's validators, and at the classes of
// those that ask for less than the spec says.
func (s *site) readClaims(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	claims := &corev1.PersistentVolumeClaimList{}
	failed := s.reader.List(ctx, claims, client.InNamespace(s.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: s.network.Name})
	if failed != nil && !s.home() && fleet.Unavailable(failed) {
		return failed
	}
	found := map[string]*corev1.PersistentVolumeClaim{}
	for i := range claims.Items {
		found[claims.Items[i].Name] = &claims.Items[i]
	}
	classes := map[string]policy.Volume{}
	s.volumes = make(map[string]policy.Volume, len(s.validators))
	for _, validator := range s.validators {
		volume := policy.Volume{Claim: found[resources.ClaimName(validator.Name)], Failed: failed}
		size := resources.DiskOf(s.network, validator.Role).Volume.Size
		if claim := volume.Claim; claim != nil && claim.Spec.Resources.Requests.Storage().Cmp(size) < 0 {
			s.readClass(ctx, &volume, classes)
		}
		s.volumes[validator.Name] = volume
	}
	return nil
}

// readClass looks at the storage class of a volume's claim, if it has any, and
// looks at each but once.
func (s *site) readClass(ctx context.Context, volume *policy.Volume, known map[string]policy.Volume) {
	name := volume.Claim.Spec.StorageClassName
	if name == nil || *name == "" {
		return
	}
	seen, ok := known[*name]
	if !ok {
		class := &storagev1.StorageClass{}
		if seen.ClassFailed = s.reader.Get(ctx, client.ObjectKey{Name: *name}, class); seen.ClassFailed == nil {
			seen.Class = class
		}
		known[*name] = seen
	}
	volume.Class, volume.ClassFailed = seen.Class, seen.ClassFailed
}

// readSets looks at which claims the StatefulSets make that a reader has.
func (s *site) readSets(ctx context.Context, reader client.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	sets := &appsv1.StatefulSetList{}
	if err := reader.List(ctx, sets, client.InNamespace(s.network.Namespace),
		client.MatchingLabels{resources.LabelNetwork: s.network.Name}); err != nil {
		return fmt.Errorf("list %T: %w", sets, err)
	}
	s.sets, s.renewing = map[string]*appsv1.StatefulSet{}, map[string]bool{}
	for i := range sets.Items {
		if set := &sets.Items[i]; s.owns(set) {
			s.sets[set.Name] = set
		}
	}
	for name, volume := range s.volumes {
		volume.Template = nil
		if set := s.sets[name]; settled(set) {
			volume.Template = resources.ClaimSize(set)
		}
		s.volumes[name] = volume
	}
	return nil
}

// growVolumes has the claims ask for what the spec says. Nothing else of the network
// depends on what becomes of it: only its condition says so.
func (r *run) growVolumes(ctx context.Context) error {
	grow := policy.VolumesToGrow(r.volumes)
	if len(grow) == 0 {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, i := range grow {
		volume := &r.volumes[i]
		s := r.siteOf(volume.Validator)
		group.Go(func() error {
			volume.Refused = s.grow(ctx, volume)
			return nil
		})
	}
	_ = group.Wait()
	// What became of it is seen soon; what was refused is tried again later.
	r.planLook()
	r.rememberVolumes()
	return ctx.Err()
}

// grow has the claim of a volume ask for what the spec says, if it is as it was seen.
func (s *site) grow(ctx context.Context, volume *policy.Volume) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	claim := volume.Claim.DeepCopy()
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = volume.Wanted.DeepCopy()
	err := s.client.Patch(ctx, claim, owned.LockedPatch(volume.Claim), client.FieldOwner(FieldManager))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), !s.home() && fleet.Unavailable(err):
		// It is another one by now, or its cluster cannot be used: it is looked at again.
		return nil
	case err != nil:
		return err
	}
	volume.Claim = claim
	return nil
}

// renewSets lets those StatefulSets go, without their pods, that make smaller claims
// than the spec says. They are made anew with all other objects once they are gone,
// and take their pods over.
func (r *run) renewSets(ctx context.Context) error {
	renewal := policy.NewRenewal(r.volumes, r.memory.renewed)
	if len(renewal.Now) > 0 {
		if err := r.readSetsByNow(ctx); err != nil {
			return err
		}
		renewal = policy.NewRenewal(r.volumes, r.memory.renewed)
	}
	if renewal.Over {
		r.memory.renewed = 0
	}
	for _, i := range renewal.Now {
		volume := &r.volumes[i]
		s := r.siteOf(volume.Validator)
		set := s.sets[volume.Validator.Name]
		gone, err := s.orphan(ctx, set)
		if err != nil {
			return s.wrap(err)
		}
		if gone {
			volume.Template, s.renewing[set.Name] = nil, true
			r.memory.renewed++
		}
	}
	return nil
}

// readSetsByNow asks the API servers for the StatefulSets: a cache may still have one that
// was let go in the last run, and nobody follows it before it is back.
func (r *run) readSetsByNow(ctx context.Context) error {
	err := r.onSites(ctx, func(ctx context.Context, s *site) error {
		if len(s.validators) == 0 {
			return nil
		}
		return s.readSets(ctx, s.reader)
	})
	for i := range r.volumes {
		volume := &r.volumes[i]
		s := r.siteOf(volume.Validator)
		volume.Template, volume.Unobserved = s.volumes[volume.Validator.Name].Template, volume.Unobserved || s.lost != nil
	}
	return err
}

// orphan deletes a StatefulSet and nothing else: its pod and its claim stay. It says
// whether it did: one that changed since it was looked at stays for now.
func (s *site) orphan(ctx context.Context, set *appsv1.StatefulSet) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := s.client.Delete(ctx, set, client.Preconditions{UID: &set.UID, ResourceVersion: &set.ResourceVersion},
		client.PropagationPolicy(metav1.DeletePropagationOrphan))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("let StatefulSet %s go: %w", set.Name, err)
	default:
		return true, nil
	}
}

// goes says whether an object is about to be gone, to be made anew: nothing of it
// can be changed any more.
func (s *site) goes(live client.Object) bool {
	_, isSet := live.(*appsv1.StatefulSet)
	return isSet && (live.GetDeletionTimestamp() != nil || s.renewing[live.GetName()])
}

// keepFixed has an object be as it is in what cannot change while it is there.
func keepFixed(object resources.Object, live client.Object) {
	if set, ok := object.(*appsv1.StatefulSet); ok {
		resources.KeepClaimSize(set, live.(*appsv1.StatefulSet))
	}
}

// noteVolumes says how many volumes have the size of the spec. While a network is
// kept from making anything, they wait for what it waits for.
func (r *run) noteVolumes() {
	if r.network.Spec.Volume == nil {
		meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionVolumesSized)
		return
	}
	if len(r.volumes) == 0 {
		// Nobody looked: the network is stopped.
		return
	}
	awaited := ""
	if r.blocked {
		awaited = r.waitsFor
	}
	r.note(policy.VolumesSized(r.volumes, r.now(), awaited))
}
