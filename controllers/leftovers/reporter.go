// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/shardyard/shardyard/internal/sweep"
)

// interval is how often disks are looked for. They are paid for by the hour.
const interval = 10 * time.Minute

// reason is that of the events.
const reason = "OutlivedNetwork"

// +kubebuilder:rbac:groups="",resources=configmaps;persistentvolumeclaims;persistentvolumes;pods,verbs=list
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=shardyard.dev,resources=shardnetworks,verbs=list

// Reporter looks for disks that outlived their network from time to time.
type Reporter struct {
	reader client.Reader
	// namespaces are those that are looked at; all when there are none.
	namespaces []string
	recorder   events.EventRecorder
	gauges     *gauges
	logger     logr.Logger
	// seen are the disks that were there the last time, and whether an event was
	// made of them.
	seen map[types.UID]bool
	// ours are the volumes that validators had.
	ours map[types.UID]bool
}

// Setup adds the reporter to a manager, for some namespaces or, when there are
// none, for all.
func Setup(manager ctrl.Manager, namespaces []string) error {
	gauges := newGauges()
	if err := metrics.Registry.Register(gauges); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return manager.Add(&Reporter{
		reader:     manager.GetAPIReader(),
		namespaces: namespaces,
		recorder:   manager.GetEventRecorder("shardyard"),
		gauges:     gauges,
		logger:     manager.GetLogger().WithName("leftovers"),
	})
}

// Start looks for disks until the context is done.
func (r *Reporter) Start(ctx context.Context) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// NeedLeaderElection has one of several operators tell.
func (*Reporter) NeedLeaderElection() bool { return true }

// look reports once. That it cannot is told as well, by what is left out.
func (r *Reporter) look(ctx context.Context) {
	if err := r.report(ctx); err != nil && ctx.Err() == nil {
		r.gauges.forget()
		r.logger.Error(err, "cannot look for disks that outlived their network")
	}
}

// report tells of what is left now and was the last time: what a network that
// was deleted just now still has is about to go. It tells by metrics, and once of
// each disk by an event. Of a volume that nothing but its claim's name says to be a
// network's it tells nothing: it may be anybody's. Nor does it of disks that a restore fills,
// whose network comes after them.
func (r *Reporter) report(ctx context.Context) error {
	cluster, err := sweep.Read(ctx, r.reader, r.namespaces...)
	if err != nil {
		return err
	}
	r.ours = cluster.Remember(r.ours)
	seen := map[types.UID]bool{}
	var left []sweep.Leftover
	for _, leftover := range sweep.Find(cluster) {
		if leftover.ByNameOnly || leftover.Restoring {
			continue
		}
		told, before := r.seen[leftover.UID]
		seen[leftover.UID] = before
		if !before {
			continue
		}
		left = append(left, leftover)
		if !told {
			r.recorder.Eventf(object(&leftover), nil, corev1.EventTypeWarning, reason, "Sweep",
				"nothing uses this disk of %[3]s, which was made for the network %[1]s/%[2]s: see shardyard sweep",
				leftover.Namespace, leftover.Network, leftover.Size)
		}
	}
	r.seen = seen
	r.gauges.set(left)
	return nil
}

// object is what an event about a disk is about.
func object(leftover *sweep.Leftover) client.Object {
	if leftover.Kind == sweep.Volume {
		return &corev1.PersistentVolume{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: string(sweep.Volume)},
			ObjectMeta: metav1.ObjectMeta{Name: leftover.Name, UID: leftover.UID},
		}
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: string(sweep.Claim)},
		ObjectMeta: metav1.ObjectMeta{Namespace: leftover.Namespace, Name: leftover.Name, UID: leftover.UID},
	}
}
