// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/clusterbackup"
)

const (
	// defaultAtOnce is how many nodes of a cluster are copied at a time.
	defaultAtOnce = 8
	// defaultPodTime is how long a pod may wait, and how long copy one.
	defaultPodTime = 6 * time.Hour
)

// clusterBackupFlags say which cluster a backup is of, and how its pods reach the place.
type clusterBackupFlags struct {
	cluster                       clusterFlags
	namespace                     string
	secret, serviceAccount, image string
	atOnce                        int
	timeout                       time.Duration
	manifest                      string
	forward                       func(ctx context.Context, pod *corev1.Pod, port int, serve func(address string) error) error
}

// clusterSwitches are the flags any of which says that a network is one of a cluster.
var clusterSwitches = []string{"namespace", "context", "kubeconfig"}

// clusterOnly are the flags that are about networks of a cluster alone.
var clusterOnly = []string{"secret", "service-account", "image", "at-once", "timeout", "manifest"}

func (f *clusterBackupFlags) add(command *cobra.Command) {
	f.forward = f.cluster.forward
	f.cluster.add(command)
	flags := command.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "",
		"namespace of a network of a cluster (default that of the context, with --context or --kubeconfig)")
	flags.StringVar(&f.secret, "secret", "", "Secret of the namespace that has the credentials for the bucket")
	flags.StringVar(&f.serviceAccount, "service-account", "", "ServiceAccount of the namespace that the cloud lets use the bucket")
	flags.StringVar(&f.image, "image", "", "image of the pods, an operator's (default that of the cluster's operator)")
	flags.IntVar(&f.atOnce, "at-once", defaultAtOnce, "of how many nodes of a cluster data is copied at a time")
	flags.DurationVar(&f.timeout, "timeout", defaultPodTime, "how long a pod of a cluster may wait, and then copy the data of a node")
	command.MarkFlagsMutuallyExclusive("secret", "service-account")
}

// given says whether the network is one of a cluster. Flags that are about something else
// are refused.
func (f *clusterBackupFlags) given(command *cobra.Command, localOnly ...string) (bool, error) {
	changed := func(names []string) string {
		for _, name := range names {
			if command.Flags().Changed(name) {
				return name
			}
		}
		return ""
	}
	if changed(clusterSwitches) == "" {
		if name := changed(clusterOnly); name != "" {
			return false, fmt.Errorf("--%s is about networks of a cluster: say which with --namespace", name)
		}
		return false, nil
	}
	if name := changed(localOnly); name != "" {
		return true, fmt.Errorf("--%s is about networks of this machine, and --%s about those of a cluster", name, changed(clusterSwitches))
	}
	if f.timeout < time.Second {
		return true, fmt.Errorf("--timeout is %s: want a second or more", f.timeout)
	}
	if f.atOnce < 1 {
		return true, fmt.Errorf("--at-once is %d: want 1 or more", f.atOnce)
	}
	return true, nil
}

// options are those that backups and restores have in common.
func (f *clusterBackupFlags) options(command *cobra.Command, url string) (clusterbackup.Options, error) {
	config, namespace, err := f.cluster.config()
	if err != nil {
		return clusterbackup.Options{}, err
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	cluster, err := newClient(config)
	return clusterbackup.Options{
		Client: cluster, Namespace: namespace, URL: url, SecretName: f.secret, ServiceAccountName: f.serviceAccount,
		Image: f.image, AtOnce: f.atOnce, Deadline: f.timeout, Progress: command.ErrOrStderr(),
	}, err
}

// backup keeps a network of a cluster.
func (f *clusterBackupFlags) backup(ctx context.Context, command *cobra.Command, url, network string, nodes []string) error {
	options, err := f.options(command, url)
	if err != nil {
		return err
	}
	return tellBackup(command.OutOrStdout(), "kept")(
		clusterbackup.Backup(ctx, clusterbackup.BackupOptions{Options: options, Network: network, Nodes: nodes}))
}

// restore makes what a network of a cluster goes on from, and prints the network.
func (f *clusterBackupFlags) restore(ctx context.Context, command *cobra.Command, url string, nodes []string, replace bool) error {
	options, err := f.options(command, url)
	if err != nil {
		return err
	}
	var given []byte
	if f.manifest != "" {
		if given, err = os.ReadFile(f.manifest); err != nil {
			return err
		}
	}
	of, network, err := clusterbackup.Restore(ctx, clusterbackup.RestoreOptions{
		Options: options, Manifest: given, Nodes: nodes, Replace: replace, Forward: f.forward,
	})
	if err != nil {
		return err
	}
	content, err := clusterbackup.Encode(network)
	if err != nil {
		return err
	}
	// Only the manifest goes where another program may read it.
	if err := tellBackup(command.ErrOrStderr(), "put back")(of, nil); err != nil {
		return err
	}
	_, err = command.OutOrStdout().Write(content)
	return err
}
