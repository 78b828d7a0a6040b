// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

const (
	// clusterDomain is what the operator takes the DNS domain of its cluster for.
	clusterDomain = "cluster.local"
	// programThere is where the operator's program is for the pods of a benchmark.
	programThere = "/operator"
	// filesMode and foldersMode are of what they find.
	filesMode, foldersMode os.FileMode = 0o600, 0o700
)

// recorders runs the pods of a benchmark, which run nothing on fake machines, one
// after the other: the operator's program with the arguments and the files of each, in
// a root that has nothing else. A file says what the names of nodes come to.
type recorders struct {
	cluster   *cluster
	benchmark string
	root      string

	lock sync.Mutex
	// volume is where the benchmark's is; empty before a pod had it.
	volume string
	// ended is when the program of each pod ended, by name.
	ended map[string]time.Time
	fault error
}

// runRecorders runs the pods of a benchmark until the test ends.
func (c *cluster) runRecorders(t *testing.T, benchmark string) *recorders {
	t.Helper()
	r := &recorders{cluster: c, benchmark: benchmark, root: t.TempDir(), ended: map[string]time.Time{}}
	content, err := os.ReadFile(program(t, "OPERATOR"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.root, programThere), content, foldersMode); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		err := r.watch(ctx)
		r.lock.Lock()
		defer r.lock.Unlock()
		r.fault = err
	})
	t.Cleanup(func() {
		cancel()
		watching.Wait()
	})
	return r
}

// watch runs each pod that is said to run, until one fails.
func (r *recorders) watch(ctx context.Context) error {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		pods := &corev1.PodList{}
		err := r.cluster.List(ctx, pods, client.MatchingLabels{
			resources.LabelName: resources.NameRecorder, resources.LabelBenchmark: r.benchmark,
		})
		for i := range pods.Items {
			if pod := &pods.Items[i]; err == nil && pod.Status.Phase == corev1.PodRunning && r.endOf(pod.Name).IsZero() {
				err = r.run(ctx, pod)
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// failed is what kept a pod from being run.
func (r *recorders) failed() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.fault
}

// endOf is when the program of a pod ended; the zero time when it did not.
func (r *recorders) endOf(pod string) time.Time {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.ended[pod]
}

// run runs the program of a pod to its end, and says in the pod's status how it ended.
func (r *recorders) run(ctx context.Context, pod *corev1.Pod) error {
	container := &pod.Spec.Containers[0]
	if err := r.mount(ctx, pod, container); err != nil {
		return fmt.Errorf("mount the files of %s: %w", pod.Name, err)
	}
	var said bytes.Buffer
	command := &exec.Cmd{
		Path: programThere, Args: append([]string{programThere}, container.Args...), Dir: "/", Env: []string{},
		Stdout: &said, Stderr: &said, SysProcAttr: &syscall.SysProcAttr{Chroot: r.root, Pdeathsig: syscall.SIGKILL},
	}
	if user := os.Getuid(); user != 0 {
		// Whoever has a user namespace may change the root in it.
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: user, Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", pod.Name, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Kill() })
	defer stop()
	if err := command.Wait(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", pod.Name, container.Args[0], err, said.Bytes())
	}
	at := time.Now()
	r.lock.Lock()
	r.ended[pod.Name] = at
	r.lock.Unlock()
	message, err := os.ReadFile(filepath.Join(r.root, corev1.TerminationMessagePathDefault))
	if err != nil {
		return fmt.Errorf("read what %s says: %w", pod.Name, err)
	}
	return r.finish(ctx, pod, string(message), at)
}

// mount puts a pod's files where its program looks for them. What is on the volume of
// the benchmark stays.
func (r *recorders) mount(ctx context.Context, pod *corev1.Pod, container *corev1.Container) error {
	files, err := r.files(ctx, pod, container)
	if err != nil {
		return err
	}
	// The program writes this one itself, and must not find what another wrote.
	message := filepath.Join(r.root, corev1.TerminationMessagePathDefault)
	if err := os.RemoveAll(message); err != nil {
		return err
	}
	files[corev1.TerminationMessagePathDefault] = ""
	for path, content := range files {
		there := filepath.Join(r.root, path)
		if err := os.MkdirAll(filepath.Dir(there), foldersMode); err != nil {
			return err
		}
		if err := os.WriteFile(there, []byte(content), filesMode); err != nil {
			return err
		}
	}
	return nil
}

// files are those of a pod, by their paths, and the one of names.
func (r *recorders) files(ctx context.Context, pod *corev1.Pod, container *corev1.Container) (map[string]string, error) {
	paths := map[string]string{}
	for _, mount := range container.VolumeMounts {
		paths[mount.Name] = mount.MountPath
	}
	files := map[string]string{}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		path := paths[volume.Name]
		switch {
		case volume.ConfigMap != nil:
			config := &corev1.ConfigMap{}
			key := client.ObjectKey{Namespace: pod.Namespace, Name: volume.ConfigMap.Name}
			if err := r.cluster.Get(ctx, key, config); err != nil {
				return nil, err
			}
			for name, content := range config.Data {
				files[filepath.Join(path, name)] = content
			}
		case volume.PersistentVolumeClaim != nil:
			if err := r.attach(filepath.Join(r.root, path)); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("volume %s is of a kind that is not known here", volume.Name)
		}
	}
	names, err := r.names(ctx)
	files["/etc/hosts"] = names
	return files, err
}

// attach makes the volume of the benchmark, the first time that a pod has it.
func (r *recorders) attach(folder string) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.volume = folder
	return os.MkdirAll(folder, foldersMode)
}

// artifact is the folder of the benchmark's result.
func (r *recorders) artifact() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return filepath.Join(r.volume, resources.ArtifactPath)
}

// names is the file that says what the names of the benchmark's nodes come to.
func (r *recorders) names(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := r.cluster.List(ctx, pods, client.MatchingLabels{resources.LabelNetwork: r.benchmark}); err != nil {
		return "", err
	}
	var names strings.Builder
	for i := range pods.Items {
		pod := &pods.Items[i]
		fmt.Fprintf(&names, "%s %s.%s.%s.svc.%s\n",
			pod.Status.PodIP, pod.Spec.Hostname, pod.Spec.Subdomain, pod.Namespace, clusterDomain)
	}
	return names.String(), nil
}

// finish says in a pod's status that its program ended well, and what it said.
func (r *recorders) finish(ctx context.Context, pod *corev1.Pod, message string, at time.Time) error {
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", Message: message, FinishedAt: metav1.NewTime(at),
		}}
	}
	if err := r.cluster.Status().Patch(ctx, pod, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("say how %s ended: %w", pod.Name, err)
	}
	return nil
}
