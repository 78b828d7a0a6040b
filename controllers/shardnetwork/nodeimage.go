// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/resources"
)

// recordImage writes which image nodes are made with before any is: an operator
// that ends half-way, and is another release then, goes on with the same.
func (r *run) recordImage(ctx context.Context) error {
	r.status.DefaultNodeImage = r.image.Default
	r.status.NodeImage = resources.NodeImage(r.network, r.settings.DefaultNodeImage)
	before := &r.network.Status
	if before.DefaultNodeImage == r.status.DefaultNodeImage && before.NodeImage == r.status.NodeImage {
		return nil
	}
	if err := r.writeStatus(ctx); err != nil {
		return fmt.Errorf("write node image: %w", err)
	}
	return nil
}

// checkImage finds out the formats of the image that the spec names, before nodes
// are made with it, and says whether they may be.
func (r *run) checkImage(ctx context.Context) error {
	probe := &policy.Probe{Name: resources.ImageProbeName(r.network.Name, r.image.Wanted)}
	kept := ""
	var failed error
	if r.image.Check {
		kept = probe.Name
		failed = r.probeImage(ctx, probe)
	}
	r.note(policy.ImageCompatible(&r.image, probe))
	if failed != nil {
		return failed
	}
	return r.onSites(ctx, func(ctx context.Context, s *site) error { return s.dropProbes(ctx, kept) })
}

// probeImage looks at the pod that asks the image, which it makes in the first
// cluster with validators that can be used, and keeps what it says.
func (r *run) probeImage(ctx context.Context, probe *policy.Probe) error {
	var asked *site
	for _, s := range r.sites {
		if asked == nil && s.lost == nil && len(s.validators) > 0 {
			asked = s
		}
	}
	if asked == nil {
		probe.Failed = fmt.Errorf("no cluster that holds validators can be used now")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pod := &corev1.Pod{}
	err := asked.reader.Get(ctx, client.ObjectKey{Namespace: r.network.Namespace, Name: probe.Name}, pod)
	if apierrors.IsNotFound(err) {
		pod = resources.NewImageProbe(r.network, r.image.Wanted)
		err = asked.create(ctx, pod)
	}
	if err != nil {
		// The cluster may refuse it: a condition says so, and the rest goes on.
		probe.Failed = asked.wrap(err)
		return nil
	}
	if !asked.owns(pod) {
		probe.Failed = &nameTakenError{kind: "Pod", name: asked.of(pod.Name)}
		return nil
	}
	probe.Pod = pod
	formats, done := policy.FormatsOf(pod)
	if !done {
		if pod.Status.Reason != "" {
			// Its machine took it away before it could say anything: again.
			return client.IgnoreNotFound(asked.client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}))
		}
		return nil
	}
	r.status.ImageCheck = &v1alpha1.ImageCheck{Image: r.image.Wanted, Formats: formats}
	if err := r.writeStatus(ctx); err != nil {
		return fmt.Errorf("write formats of the image: %w", err)
	}
	return nil
}

// dropProbes deletes the pods that asked images, but one.
func (s *site) dropProbes(ctx context.Context, kept string) error {
	pods := &corev1.PodList{}
	if err := s.client.List(ctx, pods, client.InNamespace(s.network.Namespace),
		client.MatchingLabels(resources.ImageProbeSelector(s.network.Name))); err != nil {
		return fmt.Errorf("list pods that ask images: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Name == kept || pod.DeletionTimestamp != nil || !s.owns(pod) {
			continue
		}
		if err := s.client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s: %w", pod.Name, err)
		}
	}
	return nil
}
