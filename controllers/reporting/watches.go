// SPDX-License-Identifier: Apache-2.0

package reporting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// refusalLasts is how long a refusal counts. Whoever is refused asks again after a
// minute at the latest, so that an older one is over.
const refusalLasts = 2 * time.Minute

var refusedDescription = prometheus.NewDesc("shardyard_refused_watches",
	"1 of each kind that the operator may not list or watch, and so knows nothing of, or nothing new.",
	[]string{"group", "resource"}, nil)

// Watches notes which kinds the operator is refused to list or to watch. Nothing else
// tells of that: what is not known of a kind looks like a kind of which there is
// nothing.
type Watches struct {
	log logr.Logger
	now func() time.Time

	lock    sync.Mutex
	refused map[schema.GroupResource]refusal
}

// refusal is what was refused last of a kind.
type refusal struct {
	at  time.Time
	err error
}

// NewWatches are watches of which none is refused.
func NewWatches(log logr.Logger) *Watches {
	return &Watches{log: log, now: time.Now, refused: map[schema.GroupResource]refusal{}}
}

// Handle is told what ended a watch, and notes it if that was a refusal.
func (w *Watches) Handle(ctx context.Context, reflector *toolscache.Reflector, err error) {
	w.note(err)
	toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
}

func (w *Watches) note(err error) {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return
	}
	// Of a refusal, the kind is the name of the resource.
	details := status.Status().Details
	kind := schema.GroupResource{Group: details.Group, Resource: details.Kind}
	now := w.now()
	w.lock.Lock()
	defer w.lock.Unlock()
	if before, ok := w.refused[kind]; !ok || now.Sub(before.at) > refusalLasts {
		w.log.Error(err, "nothing is known of a kind, or nothing new: give the operator the right to list and to watch it",
			"kind", kind.String())
	}
	w.refused[kind] = refusal{at: now, err: err}
}

// Check fails while the operator is refused a kind.
func (w *Watches) Check(kind schema.GroupResource) healthz.Checker {
	return func(*http.Request) error {
		if found, ok := w.current()[kind]; ok {
			return fmt.Errorf("the operator knows nothing of %s, or nothing new: %w", kind, found.err)
		}
		return nil
	}
}

// current are the refusals that count.
func (w *Watches) current() map[schema.GroupResource]refusal {
	now := w.now()
	w.lock.Lock()
	defer w.lock.Unlock()
	current := map[schema.GroupResource]refusal{}
	for kind, found := range w.refused {
		if now.Sub(found.at) <= refusalLasts {
			current[kind] = found
		}
	}
	return current
}

// Describe names the metric.
func (*Watches) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- refusedDescription
}

// Collect tells its values.
func (w *Watches) Collect(values chan<- prometheus.Metric) {
	for kind := range w.current() {
		values <- prometheus.MustNewConstMetric(refusedDescription, prometheus.GaugeValue, 1, kind.Group, kind.Resource)
	}
}
