// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
)

// tunnel is an address on this machine that leads to a port of a pod, as with
// kubectl port-forward: pods need not be reachable, and network policies do not
// matter. Unlike there it outlives the pod and leads to the next one of its
// name.
func (c *cluster) tunnel(t *testing.T, namespace, pod string, port int) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := c.clientset.CoreV1().RESTClient().Post().
		Namespace(namespace).Resource("pods").Name(pod).SubResource("portforward").URL()
	var group sync.WaitGroup
	group.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			// Whoever connects sees that the pod is not there by the end of the
			// connection.
			group.Go(func() { _ = forward(c.config, address, port, connection) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}

// forward connects a connection to a port of the pod of a URL until one of them closes it.
func forward(config *rest.Config, pod *url.URL, port int, connection net.Conn) error {
	defer connection.Close()
	// It keeps what it has dialed, so that of two that dial with one both would get the later one's session.
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(pod, config)
	if err != nil {
		return err
	}
	session, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return err
	}
	defer session.Close()
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	trouble, err := session.CreateStream(headers)
	if err != nil {
		return err
	}
	defer trouble.Close()
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := session.CreateStream(headers)
	if err != nil {
		return err
	}

	ended := make(chan struct{}, 3)
	for _, pair := range []struct {
		to   io.Writer
		from io.Reader
	}{{data, connection}, {connection, data}, {io.Discard, trouble}} {
		go func() {
			_, _ = io.Copy(pair.to, pair.from)
			ended <- struct{}{}
		}()
	}
	<-ended
	return nil
}
