// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are taken from below those that kernels give to connections, from 32768 on
// where nobody has changed it. A node that is started again finds its port as it left
// it, and not in use by whoever has dialled meanwhile.
const (
	lowestPort, highestPort = 10_000, 32_767
	// portAttempts is how often a port is drawn for each that is wanted. Most are free.
	portAttempts = 1000
)

// port is a free port of the loopback interface. It stays free as long as it is
// held here.
type port struct {
	listener net.Listener
}

// holdPorts draws free ports, and holds all of them at once so that no two are the
// same.
func holdPorts(ctx context.Context, count int) ([]port, error) {
	ports := make([]port, 0, count)
	for attempts := portAttempts * count; len(ports) < count; attempts-- {
		held, err := holdPort(ctx, lowestPort+rand.IntN(highestPort-lowestPort+1)) //nolint:gosec // No secret.
		switch {
		case err == nil:
			ports = append(ports, held)
		case attempts > 0 && errors.Is(err, syscall.EADDRINUSE):
		default:
			return nil, errors.Join(fmt.Errorf("find %d free ports: %w", count, err), releasePorts(ports))
		}
	}
	return ports, nil
}

func holdPort(ctx context.Context, number int) (port, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	return port{listener}, err
}

func releasePorts(ports []port) error {
	var errs []error
	for _, port := range ports {
		errs = append(errs, port.release())
	}
	return errors.Join(errs...)
}

// address is HOST:PORT.
func (p port) address() string {
	return p.listener.Addr().String()
}

// release lets another process listen on the port.
func (p port) release() error {
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("release port %s: %w", p.address(), err)
	}
	return nil
}
