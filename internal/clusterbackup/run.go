// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/bucket"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// pollInterval is how often a pod is looked at, unless a test is in a hurry.
	pollInterval = 500 * time.Millisecond
	// endTimeout bounds how long what a run made may take to be gone, longer than a pod has
	// to end.
	endTimeout = time.Minute
	idLength   = 10
	// errorPrefix comes before what the program of a pod says of why it failed.
	errorPrefix = "error: "
	// silence is how long a pod may wait before somebody is told for what.
	silence = 15 * time.Second
)

// Options say how pods reach a place in a bucket.
type Options struct {
	Client    client.Client
	Namespace string
	// URL is the place of the backup.
	URL string
	// SecretName is the Secret that has the credentials for it, and ServiceAccountName who
	// the pods are; empty for none.
	SecretName, ServiceAccountName string
	// Image is the operator's; empty for that of the operator in the cluster.
	Image string
	// AtOnce is how many nodes' data is copied at a time.
	AtOnce int
	// Deadline is how long a pod may wait to begin, and then take.
	Deadline time.Duration
	// Progress is told what happens.
	Progress io.Writer

	poll time.Duration
}

// run is what one Backup or Restore makes in a cluster, and removes again.
type run struct {
	*Options
	resources.BackupRun

	policy *networkingv1.NetworkPolicy
	lock   *corev1.ConfigMap
	mutex  sync.Mutex
}

// begin makes the policy of a run, which comes before its pods.
func begin(ctx context.Context, options *Options) (*run, error) {
	id := strings.ToLower(rand.Text()[:idLength])
	r := &run{Options: options, BackupRun: resources.BackupRun{
		Namespace: options.Namespace, ID: id, Image: options.Image, URL: options.URL,
		SecretName: options.SecretName, ServiceAccountName: options.ServiceAccountName,
		DeadlineSeconds: int64(options.Deadline.Seconds()),
	}}
	r.policy = r.NewPolicy()
	if err := r.Client.Create(ctx, r.policy); err != nil {
		if !refused(err) {
			// Nobody said whether it is there.
			err = errors.Join(err, r.end(ctx))
		}
		return nil, err
	}
	r.Root = resources.RootOf(r.policy)
	return r, nil
}

// refused tells an API server that made nothing, and said so, from one whose answer was lost
// or who may have made it before it failed. A name is taken by nobody but an earlier attempt
// of the same run.
func refused(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || apierrors.IsTimeout(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// checkURL refuses what no pod could reach.
func checkURL(url string) error {
	switch _, folder, err := bucket.Folder(url); {
	case err != nil:
		return err
	case folder:
		return fmt.Errorf("%s is a folder of this machine, which pods do not reach: want s3://BUCKET/PREFIX or gs://BUCKET/PREFIX", url)
	}
	_, err := bucket.Parse(url)
	return err
}

// hold makes the lock of a network.
func (r *run) hold(ctx context.Context, network string, files map[string]string) error {
	lock := r.NewLock(network, files)
	err := r.Client.Create(ctx, lock)
	if apierrors.IsAlreadyExists(err) {
		return r.held(ctx, lock)
	}
	if err == nil {
		r.lock = lock
	}
	return err
}

// held says who holds a lock, and how to get rid of one that nobody holds any more.
func (r *run) held(ctx context.Context, lock *corev1.ConfigMap) error {
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(lock), lock); err != nil {
		return err
	}
	if lock.Labels[resources.LabelBackupRun] == "" || len(lock.OwnerReferences) == 0 {
		return fmt.Errorf("the ConfigMap %s belongs to somebody else", lock.Name)
	}
	return fmt.Errorf("another backup or restore of this network goes on since %s; if whoever began it was killed, "+
		"kubectl delete networkpolicy --cascade=foreground -n %s %s ends what is left of it",
		lock.CreationTimestamp.UTC().Format(time.RFC3339), lock.Namespace, lock.OwnerReferences[0].Name)
}

// end removes what the run made, also for somebody who ended it. Pods go first: nobody else
// may begin while one of them has a disk.
func (r *run) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err := r.removePods(ctx)
	if err == nil && r.lock != nil {
		err = client.IgnoreNotFound(r.Client.Delete(ctx, r.lock))
	}
	if err == nil {
		err = client.IgnoreNotFound(r.Client.Delete(ctx, r.policy))
	}
	if err != nil {
		return fmt.Errorf("remove what was made for it, which kubectl delete networkpolicy --cascade=foreground -n %s %s does: %w",
			r.policy.Namespace, r.policy.Name, err)
	}
	return nil
}

// removePods deletes the pods of the run, and waits until they are gone. An API server that
// is away for a moment is asked again.
func (r *run) removePods(ctx context.Context) error {
	for {
		left, err := r.deletePods(ctx)
		if err == nil && left == 0 {
			return nil
		}
		if err != nil && lasting(ctx, err) {
			return err
		}
		if ended := r.pause(ctx); ended != nil {
			return cmp.Or(err, fmt.Errorf("%d pods do not end: %w", left, ended))
		}
	}
}

// deletePods deletes the pods that there are, and counts them.
func (r *run) deletePods(ctx context.Context) (int, error) {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(r.policy.Namespace),
		client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(labels.Set{resources.LabelBackupRun: r.ID})}); err != nil {
		return 0, err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil {
			continue
		}
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, &pods.Items[i])); err != nil {
			return 0, err
		}
	}
	return len(pods.Items), nil
}

// do has a pod do its work, and removes it.
func (r *run) do(ctx context.Context, pod *corev1.Pod) error {
	if err := r.Client.Create(ctx, pod); err != nil {
		return err
	}
	return r.finish(ctx, pod)
}

// finish waits until a pod has done its work, and removes it. One that failed stays until
// the run ends.
func (r *run) finish(ctx context.Context, pod *corev1.Pod) error {
	if err := r.await(ctx, pod, func() bool { return pod.Status.Phase == corev1.PodSucceeded }); err != nil {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, pod))
}

// await waits until a pod is as it should be. One that failed never is, and neither is one
// that nothing becomes of: one without a machine has no deadline, and nobody keeps that of
// one whose machine is gone.
func (r *run) await(ctx context.Context, pod *corev1.Pod, done func() bool) error {
	began, seen, told := time.Now(), time.Now(), ""
	changed, phase := began, pod.Status.Phase
	for {
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if err == nil {
			seen = time.Now()
		} else if lasting(ctx, err) || time.Since(seen) > r.outage() {
			return fmt.Errorf("wait for pod %s: %w", pod.Name, err)
		}
		if done() {
			return nil
		}
		if ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded; ended {
			return fmt.Errorf("pod %s: %s", pod.Name, lastWords(pod))
		}
		if pod.Status.Phase != phase {
			changed, phase = time.Now(), pod.Status.Phase
		}
		if time.Since(changed) > r.Deadline+r.outage() {
			return fmt.Errorf("pod %s %s, for longer than the %s that it may take", pod.Name, waitsFor(pod), r.Deadline)
		}
		if words := waitsFor(pod); pod.Status.Phase == corev1.PodPending && words != told && time.Since(began) > silence {
			told = words
			r.tell("pod %s %s", pod.Name, words)
		}
		if err := r.pause(ctx); err != nil {
			return fmt.Errorf("pod %s %s: %w", pod.Name, waitsFor(pod), err)
		}
	}
}

// outage is how long the API server may be away while a pod copies for hours.
func (r *run) outage() time.Duration { return 120 * cmp.Or(r.poll, pollInterval) }

// patience is how long a pod that runs may take to read the files of a large network
// before it shows them.
func (r *run) patience() time.Duration { return 1200 * cmp.Or(r.poll, pollInterval) }

// haste is how long the pod that removes what was kept may take to begin.
func (r *run) haste() time.Duration { return 240 * cmp.Or(r.poll, pollInterval) }

// lasting tells errors that do not go away by themselves. That a connection took too long
// is none, and looks like the end of a context: only the context itself knows.
func lasting(ctx context.Context, err error) bool {
	return ctx.Err() != nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// place makes a pod and waits until it has a machine.
func (r *run) place(ctx context.Context, pod *corev1.Pod) error {
	if err := r.Client.Create(ctx, pod); err != nil {
		return err
	}
	return r.await(ctx, pod, func() bool { return pod.Spec.NodeName != "" })
}

// tell says what happens. Several may at a time.
func (r *run) tell(format string, arguments ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	// Nothing depends on whether somebody reads it.
	_, _ = fmt.Fprintf(r.Progress, format+"\n", arguments...)
}

// pause lets some time pass.
func (o *Options) pause(ctx context.Context) error {
	timer := time.NewTimer(cmp.Or(o.poll, pollInterval))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// lastWords are what a pod that ended said of it.
func lastWords(pod *corev1.Pod) string {
	reason := ""
	for i := range pod.Status.ContainerStatuses {
		ended := pod.Status.ContainerStatuses[i].State.Terminated
		if ended != nil && ended.Message != "" {
			return strings.TrimPrefix(strings.TrimSpace(ended.Message), errorPrefix)
		}
		if ended != nil {
			reason = ended.Reason
		}
	}
	if pod.Status.Message != "" {
		return pod.Status.Message
	}
	if reason != "" {
		// What was killed, for its memory for one, said nothing.
		return "it ended as " + reason
	}
	return "it ended as " + string(pod.Status.Phase)
}

// waitsFor is what a pod is at that has not ended.
func waitsFor(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil {
			return "waits: " + strings.TrimSuffix(waiting.Reason+": "+waiting.Message, ": ")
		}
	}
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "has no machine: " + condition.Message
		}
	}
	return "is " + string(pod.Status.Phase)
}

// close ends a run that came to an error, or to none. What was done is done, whatever
// cannot be removed.
func (r *run) close(ctx context.Context, err error) error {
	left := r.end(ctx)
	if err == nil && left != nil {
		r.tell("warning: %v", left)
		return nil
	}
	return joined(err, left)
}

// joined is an error with what could not be removed after it.
func joined(err, left error) error {
	if left == nil {
		return err
	}
	return fmt.Errorf("%w; and %w", err, left)
}
