// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/fault"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// finalizer keeps a fault until it is taken back: what takes it back would go with it.
const finalizer = "shardyard.dev/fault"

// makePod makes the pod that measures the fault, and all that it needs.
func (r *run) makePod(ctx context.Context, observation *faultpolicy.Observation) error {
	inputs := resources.FaultInputs{
		Image: r.settings.Image, ClusterDomain: r.settings.ClusterDomain, KeptByNodes: fault.PartInPod(&r.fault.Spec) != "",
	}
	objects, err := resources.FaultObjects(r.fault, observation.Network, topology.DefaultPorts, inputs)
	if err != nil {
		return fmt.Errorf("build objects: %w", err)
	}
	objects = append(objects, resources.NewWatcher(r.fault, observation.Network, inputs))
	if err := r.hold(ctx); err != nil {
		return err
	}
	for _, object := range objects {
		if err := r.objects.Apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// hold keeps the fault until it is taken back.
func (r *run) hold(ctx context.Context) error {
	return owned.AddFinalizer(ctx, r.client, r.fault, finalizer)
}

// letGo lets the fault be deleted.
func (r *run) letGo(ctx context.Context) error {
	return owned.RemoveFinalizer(ctx, r.client, r.fault, finalizer)
}

// release lets the pod that measures begin: this very one, which the status names. From now
// on it may take its time to start.
func (r *run) release(ctx context.Context, pod *corev1.Pod) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%q}},"spec":{"schedulingGates":null}}`,
		pod.UID, resources.AnnotationReleased, r.now().UTC().Format(time.RFC3339))
	if err := r.client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("release pod %s: %w", pod.Name, err)
	}
	return nil
}

// kill deletes the very pods that are noted, without the time that a pod has to end.
func (r *run) kill(ctx context.Context, observation *faultpolicy.Observation) error {
	var failed error
	for _, noted := range r.status.Victims {
		pod := observation.Victims[noted.Validator]
		if pod == nil || string(pod.UID) != noted.UID {
			continue
		}
		err := r.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: ptr.To(pod.UID)})
		// By now there may be a new one of its name.
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			failed = errors.Join(failed, fmt.Errorf("kill pod %s: %w", pod.Name, err))
		}
	}
	return failed
}
