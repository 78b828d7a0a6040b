// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/portforward"
)

// forward leads to a port of a pod for as long as serve lasts, as kubectl
// port-forward does.
func (f *clusterFlags) forward(ctx context.Context, pod *corev1.Pod, port int, serve func(address string) error) error {
	config, _, err := f.config()
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	url := clientset.CoreV1().RESTClient().Post().
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddressesForStreaming(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)},
		ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		return fmt.Errorf("forward a port to pod %s: %w", pod.Name, err)
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	return serve(fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
}
