// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/backup"
	"github.com/shardyard/shardyard/internal/resources"
)

// RestoreOptions say what is put back.
type RestoreOptions struct {
	Options

	// Manifest is that of the network; nil for the one of the backup.
	Manifest []byte
	// Nodes are those whose data is put back; all that the backup has without one.
	Nodes []string
	// Replace lets what is on disks that are there go.
	Replace bool
	// NodeImage is that of networks that name none; empty for what the operator says.
	NodeImage string
	// Forward leads to a port of a pod for as long as serve lasts.
	Forward func(ctx context.Context, pod *corev1.Pod, port int, serve func(address string) error) error
}

// Restore makes what a network needs to go on from a backup: its keys, its genesis document
// and its disks, all but the network itself, which is the result. Until whoever gets that
// applies it, nothing of it runs, and what is there of a restore that did not come to its
// end lets no node start: the keys come last, and without them the operator makes none.
func Restore(ctx context.Context, options RestoreOptions) (_ *backup.Manifest, _ *v1alpha1.ShardNetwork, err error) {
	if err := checkURL(options.URL); err != nil {
		return nil, nil, err
	}
	if err := options.findImages(ctx); err != nil {
		return nil, nil, err
	}
	b := &bringing{options: &options}
	if b.run, err = begin(ctx, &options.Options); err != nil {
		return nil, nil, err
	}
	defer func() { err = b.run.close(ctx, err) }()
	if b.from, err = b.read(ctx); err != nil {
		return nil, nil, fmt.Errorf("read the backup: %w", err)
	}
	if b.restored, err = planRestore(b.from, options.Manifest, options.Namespace, options.Nodes); err != nil {
		return nil, nil, err
	}
	if err := b.run.hold(ctx, b.network.Name, nil); err != nil {
		return nil, nil, err
	}
	if err := b.check(ctx); err != nil {
		return nil, nil, err
	}
	return &b.from.Of, b.network, b.bring(ctx)
}

// findImages asks the operator for those that nobody named.
func (o *RestoreOptions) findImages(ctx context.Context) error {
	if o.Image != "" {
		return nil
	}
	images, err := FindImages(ctx, o.Client)
	if err != nil {
		return err
	}
	o.Image = images.Operator
	if o.NodeImage == "" {
		o.NodeImage = images.Node
	}
	return nil
}

// bringing is one run of Restore.
type bringing struct {
	*restored

	options *RestoreOptions
	run     *run
	from    *contents
	there   there
}

// read has a pod show what the backup has of the network.
func (b *bringing) read(ctx context.Context) (*contents, error) {
	password := rand.Text()
	pod := b.run.NewContentsServer(hashOf(password))
	if err := b.run.Client.Create(ctx, pod); err != nil {
		return nil, err
	}
	began := time.Now()
	for {
		if err := b.run.await(ctx, pod, func() bool { return pod.Status.Phase == corev1.PodRunning }); err != nil {
			return nil, err
		}
		var read *contents
		err := b.options.Forward(ctx, pod, resources.ContentsPort, func(address string) (err error) {
			read, err = fetchContents(ctx, address, password)
			return err
		})
		if err == nil {
			return read, client.IgnoreNotFound(b.run.Client.Delete(ctx, pod))
		}
		// A pod that runs may not answer yet, and one that fails says so. Who may forward no
		// ports is never answered.
		if lasting(ctx, err) || time.Since(began) > b.run.patience() {
			return nil, fmt.Errorf("pod %s does not answer: %w", pod.Name, err)
		}
		if ended := b.run.pause(ctx); ended != nil {
			return nil, fmt.Errorf("%w, and pod %s does not answer: %w", ended, pod.Name, err)
		}
	}
}
