// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/internal/resources"
)

// machine runs the pods of a namespace: the same functions that their program does, on
// folders in the place of volumes.
type machine struct {
	t         *testing.T
	client    client.Client
	namespace string
	// disks has the folders of claims.
	disks string
	// before is asked before a pod begins, and may end it instead.
	before func(command string, given map[string]string) error
	// formats is what images say of the nodes that they have.
	formats string

	mutex   sync.Mutex
	running map[types.UID]context.CancelFunc
	// ran are the pods that began, by what they do and for which node.
	ran []string
	// address is where the contents of a backup are shown.
	address string
}

func startMachine(t *testing.T, cluster client.Client, namespace string) *machine {
	t.Helper()
	m := &machine{
		t: t, client: cluster, namespace: namespace, disks: t.TempDir(), formats: "7", running: map[types.UID]context.CancelFunc{},
		before: func(string, map[string]string) error { return nil },
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			m.look(ctx, &done)
			<-time.After(20 * time.Millisecond)
		}
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return m
}

// look does what there is to do for all pods.
func (m *machine) look(ctx context.Context, done *sync.WaitGroup) {
	pods := &corev1.PodList{}
	if err := m.client.List(ctx, pods, client.InNamespace(m.namespace)); err != nil {
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		m.mutex.Lock()
		stop, running := m.running[pod.UID]
		m.mutex.Unlock()
		switch {
		case pod.DeletionTimestamp != nil:
			if running {
				stop()
			}
			_ = m.client.Delete(ctx, pod, client.GracePeriodSeconds(0))
		case pod.Spec.NodeName == "":
			binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "machine"}}
			_ = m.client.SubResource("binding").Create(ctx, pod, binding)
		case !running:
			running, stop := context.WithCancel(ctx)
			m.mutex.Lock()
			m.running[pod.UID] = stop
			m.mutex.Unlock()
			done.Go(func() { m.run(running, pod) })
		}
	}
}

// run runs a pod to its end.
func (m *machine) run(ctx context.Context, pod *corev1.Pod) {
	m.say(ctx, pod, corev1.PodRunning, "")
	message, phase := "", corev1.PodSucceeded
	if err := m.do(ctx, pod, &message); err != nil {
		message, phase = "error: "+err.Error(), corev1.PodFailed
	}
	m.say(ctx, pod, phase, message)
}

// say says how a pod is, unless somebody ended it.
func (m *machine) say(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, message string) {
	before := pod.DeepCopy()
	pod.Status.Phase = phase
	if message != "" {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:  pod.Spec.Containers[0].Name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}},
		}}
	}
	if err := m.client.Status().Patch(ctx, pod, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
		m.t.Error(err)
	}
}

// do does what the arguments of a pod say.
func (m *machine) do(ctx context.Context, pod *corev1.Pod, message *string) error {
	arguments := pod.Spec.Containers[0].Args
	given := map[string]string{}
	for _, argument := range arguments[1:] {
		name, value, _ := strings.Cut(strings.ReplaceAll(argument, "$$", "$"), "=")
		given[strings.TrimPrefix(name, "--")] = value
	}
	m.mutex.Lock()
	m.ran = append(m.ran, strings.TrimSpace(arguments[0]+" "+given["node"]))
	m.mutex.Unlock()
	if err := m.before(arguments[0], given); err != nil {
		return err
	}
	folder, err := m.mount(ctx, pod)
	if err != nil {
		return err
	}
	switch url := given["url"]; arguments[0] {
	case "keep-network":
		return KeepNetwork(ctx, url, folder)
	case "keep-node":
		return KeepNode(ctx, url, folder, given["node"])
	case "seal-backup":
		return Seal(ctx, url, folder)
	case "clear-backup":
		return Clear(ctx, url)
	case "restore-node":
		return RestoreNode(ctx, url, folder, given["node"])
	case "serve-backup":
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		m.mutex.Lock()
		m.address = listener.Addr().String()
		m.mutex.Unlock()
		return Serve(ctx, url, given["password-sha256"], listener)
	case "formats":
		*message = m.formats
		return nil
	default:
		return errors.New("nobody knows " + arguments[0])
	}
}

// mount makes a folder of a pod's volumes.
func (m *machine) mount(ctx context.Context, pod *corev1.Pod) (string, error) {
	root := m.t.TempDir()
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if claim := volume.PersistentVolumeClaim; claim != nil {
			disk := m.disk(claim.ClaimName)
			if err := os.MkdirAll(disk, 0o700); err != nil {
				return "", err
			}
			at := pod.Spec.Containers[0].VolumeMounts[len(pod.Spec.Containers[0].VolumeMounts)-1].MountPath
			if at == resources.BackupFolder {
				return disk, nil
			}
			link := filepath.Join(root, strings.TrimPrefix(at, resources.BackupFolder))
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(disk, link)); err != nil {
				return "", err
			}
		}
		if volume.Projected != nil {
			if err := m.project(ctx, volume.Projected.Sources, root); err != nil {
				return "", err
			}
		}
	}
	return root, nil
}

// disk is the folder of a claim.
func (m *machine) disk(claim string) string { return filepath.Join(m.disks, claim) }

// project writes the files of ConfigMaps and Secrets.
func (m *machine) project(ctx context.Context, sources []corev1.VolumeProjection, root string) error {
	for i := range sources {
		files, items := map[string][]byte{}, []corev1.KeyToPath(nil)
		if source := sources[i].ConfigMap; source != nil {
			config := &corev1.ConfigMap{}
			if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: source.Name}, config); err != nil {
				return err
			}
			for key, value := range config.Data {
				files[key] = []byte(value)
			}
			items = source.Items
		}
		if source := sources[i].Secret; source != nil {
			secret := &corev1.Secret{}
			if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: source.Name}, secret); err != nil {
				return err
			}
			files, items = secret.Data, source.Items
		}
		if items == nil {
			for key := range files {
				items = append(items, corev1.KeyToPath{Key: key, Path: key})
			}
		}
		for _, item := range items {
			path := filepath.Join(root, item.Path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, files[item.Key], 0o600)); err != nil {
				return err
			}
		}
	}
	return nil
}

// forward leads to what a pod shows, once it does.
func (m *machine) forward(_ context.Context, _ *corev1.Pod, _ int, serve func(address string) error) error {
	m.mutex.Lock()
	address := m.address
	m.mutex.Unlock()
	if address == "" {
		return errors.New("connection refused")
	}
	return serve(address)
}

// did are what pods did since somebody asked.
func (m *machine) did() []string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	did := m.ran
	m.ran = nil
	return did
}
