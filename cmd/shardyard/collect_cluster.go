// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/support"
	"github.com/shardyard/shardyard/internal/topology"
)

// Of a container's log, so many last lines are collected, and no more bytes.
const (
	maxPodLogLines = 100_000
	maxPodLogBytes = 64 << 20
)

// operators is what the operator's chart labels its pods with, whatever its release and its
// nameOverride are. Operators of others may have the same.
var operators = client.MatchingLabels{"app.kubernetes.io/component": "operator"}

// isOperator says whether a pod of operators is of this one, which is told the image of nodes.
func isOperator(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(container corev1.Container) bool {
		return container.Name == "operator" && slices.ContainsFunc(container.Args, func(arg string) bool {
			return strings.HasPrefix(arg, "--node-image=")
		})
	})
}

func newCollectClusterCommand() *cobra.Command {
	var flags clusterFlags
	var namespace, path string
	command := &cobra.Command{
		Use:   "cluster NETWORK",
		Short: "Pack what is known of a network of a cluster",
		Long:  collectLong,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			collector, err := newClusterCollector(&flags, namespace, args[0])
			if err != nil {
				return err
			}
			return collect(command, args[0], path, collector.fill)
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the network (default that of the context)")
	addBundleFlag(command, &path)
	return command
}

// clusterCollector collects what a cluster has of a network.
type clusterCollector struct {
	client    client.Client
	clientset kubernetes.Interface
	namespace string
	network   string
}

func newClusterCollector(flags *clusterFlags, namespace, network string) (*clusterCollector, error) {
	config, ofContext, err := flags.config()
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = ofContext
	}
	direct, err := newClient(config)
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &clusterCollector{direct, clientset, namespace, network}, nil
}

// kindsOfNetworks are the kinds of objects that a network has, but for Secrets.
var kindsOfNetworks = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Service"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	resources.KindHTTPRoute,
}

// fill fills a bundle. That the network is not there ends it: so the name is
// wrong, or the namespace.
func (c *clusterCollector) fill(ctx context.Context, bundle *support.Bundle) error {
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindShardNetwork))
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: c.network}, network); err != nil {
		return err
	}
	if err := addObjects(bundle, "network.yaml", *network); err != nil {
		return err
	}
	if err := missMembers(bundle, network); err != nil {
		return err
	}
	labels := client.MatchingLabels{resources.LabelNetwork: c.network}
	for _, kind := range kindsOfNetworks {
		if err := c.objects(ctx, bundle, kind, client.InNamespace(c.namespace), labels); err != nil {
			return err
		}
	}
	tunings := v1alpha1.GroupVersion.WithKind("NodeTuning")
	if err := c.objects(ctx, bundle, tunings); err != nil {
		return err
	}
	trials, err := c.trials(ctx, bundle, network)
	if err != nil {
		return err
	}
	if err := c.events(ctx, bundle, trials); err != nil {
		return err
	}
	if err := c.pods(ctx, bundle, "nodes", client.InNamespace(c.namespace), labels); err != nil {
		return err
	}
	if err := c.podsOf(ctx, bundle, trials); err != nil {
		return err
	}
	return c.podsLike(ctx, bundle, "operator", isOperator, operators)
}

// missMembers notes the clusters of which nothing is collected.
func missMembers(bundle *support.Bundle, network *unstructured.Unstructured) error {
	regions, _, err := unstructured.NestedSlice(network.Object, "spec", "regions")
	if err != nil {
		return err
	}
	for _, region := range regions {
		fields, ok := region.(map[string]any)
		if !ok {
			continue
		}
		if member, _, _ := unstructured.NestedString(fields, "cluster"); member != "" {
			bundle.Miss("cluster "+member, errors.New("what the network has there is not collected"))
		}
	}
	return nil
}

// objects adds all objects of a kind.
func (c *clusterCollector) objects(
	ctx context.Context, bundle *support.Bundle, kind schema.GroupVersionKind, which ...client.ListOption,
) error {
	name := path.Join("objects", strings.ToLower(kind.Kind)+".yaml")
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := c.client.List(ctx, list, which...)
	if kind == resources.KindHTTPRoute && meta.IsNoMatchError(err) {
		// Without the Gateway API there are none.
		return nil
	}
	if err != nil {
		bundle.Miss(name, err)
		return nil
	}
	return addObjects(bundle, name, list.Items...)
}

// addObjects adds objects as YAML, without what only says who wrote what.
func addObjects(bundle *support.Bundle, name string, objects ...unstructured.Unstructured) error {
	var file []byte
	for i := range objects {
		objects[i].SetManagedFields(nil)
		content, err := yaml.Marshal(objects[i].Object)
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		file = append(append(file, "---\n"...), content...)
	}
	return bundle.Add(name, file)
}

// events adds the events about the network, what is done to it, and the objects of
// both, whose names begin with theirs.
func (c *clusterCollector) events(ctx context.Context, bundle *support.Bundle, trials []trial) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "EventList"})
	if err := c.client.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
		bundle.Miss("events.yaml", err)
		return nil
	}
	names := []string{c.network}
	for _, trial := range trials {
		names = append(names, trial.name)
	}
	about := slices.DeleteFunc(list.Items, func(event unstructured.Unstructured) bool {
		regarding, _, _ := unstructured.NestedString(event.Object, "regarding", "name")
		return !slices.ContainsFunc(names, func(name string) bool {
			return regarding == name || strings.HasPrefix(regarding, name+"-")
		})
	})
	return addObjects(bundle, "events.yaml", about...)
}

// pods adds the logs of pods and, of those that run a node, what the node says.
func (c *clusterCollector) pods(ctx context.Context, bundle *support.Bundle, folder string, which ...client.ListOption) error {
	return c.podsLike(ctx, bundle, folder, func(*corev1.Pod) bool { return true }, which...)
}

// podsLike is pods of those that are wanted.
func (c *clusterCollector) podsLike(
	ctx context.Context, bundle *support.Bundle, folder string, wanted func(*corev1.Pod) bool, which ...client.ListOption,
) error {
	var pods corev1.PodList
	if err := c.client.List(ctx, &pods, which...); err != nil {
		bundle.Miss(folder, err)
		return nil
	}
	pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !wanted(&pod) })
	if len(pods.Items) == 0 {
		bundle.Miss(folder, errors.New("there is no pod"))
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		in := path.Join(folder, pod.Name)
		if err := c.logs(ctx, bundle, in, pod); err != nil {
			return err
		}
		if pod.Labels[resources.LabelValidator] == "" {
			continue
		}
		for file, of := range map[string]string{"status.json": "/status", "metrics.txt": "/metrics"} {
			content, err := c.clientset.CoreV1().Pods(pod.Namespace).
				ProxyGet("http", pod.Name, strconv.Itoa(topology.DefaultPorts.HTTP), of, nil).DoRaw(ctx)
			if err := added(bundle, path.Join(in, file), content, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// logs adds the logs of a pod's containers, and of those that ran before them.
func (c *clusterCollector) logs(ctx context.Context, bundle *support.Bundle, folder string, pod *corev1.Pod) error {
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		for name, previous := range map[string]bool{container.Name + ".log": false, container.Name + ".previous.log": true} {
			if previous && container.RestartCount == 0 {
				continue
			}
			content, err := c.clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
				Container: container.Name, Previous: previous,
				TailLines: ptr.To[int64](maxPodLogLines), LimitBytes: ptr.To[int64](maxPodLogBytes),
			}).DoRaw(ctx)
			if err := added(bundle, path.Join(folder, name), content, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// added adds what was answered, or notes that there was no answer.
func added(bundle *support.Bundle, name string, content []byte, err error) error {
	if err != nil {
		bundle.Miss(name, err)
		return nil
	}
	return bundle.Add(name, content)
}
