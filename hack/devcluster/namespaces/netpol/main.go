// SPDX-License-Identifier: Apache-2.0

// Command netpol enforces the NetworkPolicies of a cluster for the pods of one
// node of the development cluster: what a cluster's network plugin does. All
// traffic of pods is routed by their node and so passes the rules that this
// writes for it.
//
// kube-network-policies would do it, by handing every new connection to a program
// through a queue of nftables, which not every kernel has (CONFIG_NFT_QUEUE). What is
// written here is sets and verdicts alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the cluster")
	node := flag.String("node", "", "the node whose pods' traffic is filtered")
	flag.Parse()

	if err := run(*kubeconfig, *node); err != nil {
		fmt.Fprintln(os.Stderr, "netpol:", err)
		os.Exit(1)
	}
}

// run writes new rules whenever a pod, a namespace or a policy changes.
func run(kubeconfig, node string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	namespaces := factory.Core().V1().Namespaces()
	policies := factory.Networking().V1().NetworkPolicies()

	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		pods.Informer(), namespaces.Informer(), policies.Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	var applied string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		var state cluster
		if state.pods, err = pods.Lister().List(labels.Everything()); err != nil {
			return fmt.Errorf("list pods: %w", err)
		}
		if state.namespaces, err = namespaces.Lister().List(labels.Everything()); err != nil {
			return fmt.Errorf("list namespaces: %w", err)
		}
		if state.policies, err = policies.Lister().List(labels.Everything()); err != nil {
			return fmt.Errorf("list network policies: %w", err)
		}
		rules, err := state.ruleset(node)
		if err != nil {
			return err
		}
		if rules == applied {
			continue
		}
		if err := apply(ctx, rules); err != nil {
			return err
		}
		applied = rules
	}
}
