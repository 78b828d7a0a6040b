// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// port is a free port of the loopback interface. It stays free as long as it is
// held here.
type port struct {
	listener net.Listener
}

// holdPorts asks the kernel for free ports, all at once so that no two are the
// same.
func holdPorts(ctx context.Context, count int) ([]port, error) {
	ports := make([]port, 0, count)
	for range count {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("find %d free ports: %w", count, err), releasePorts(ports))
		}
		ports = append(ports, port{listener})
	}
	return ports, nil
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
