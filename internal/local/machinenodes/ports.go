// SPDX-License-Identifier: Apache-2.0

package machinenodes

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
	// blockPorts are ports that one network has for itself: whoever holds the first one
	// of a block may take the others. Between a port being let go and the node that it
	// is for listening on it, it is free to everybody else.
	blockPorts = 128
	// portAttempts is how often a block is drawn. Most are free.
	portAttempts = 1000
)

// Port is a free TCP port of the loopback interface. It stays free as long as it is
// held here.
type Port struct {
	listener net.Listener
}

// HoldPorts draws blocks of ports, and holds as many free ones of them as are wanted.
// No other network takes any as long as the guards, the first ones of these blocks,
// are held. With an error, nothing is held.
func HoldPorts(ctx context.Context, count int) (ports, guards []Port, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("find %d free ports: %w", count, err), ReleasePorts(ports), ReleasePorts(guards))
		}
	}()
	for attempts := portAttempts; len(ports) < count; attempts-- {
		first := lowestPort + blockPorts*rand.IntN((highestPort-lowestPort+1)/blockPorts) //nolint:gosec // No secret.
		guard, err := holdPort(ctx, first)
		if errors.Is(err, syscall.EADDRINUSE) && attempts > 0 {
			continue
		}
		if err != nil {
			return ports, guards, err
		}
		guards = append(guards, guard)
		for number := first + 1; number < first+blockPorts && len(ports) < count; number++ {
			held, err := holdPort(ctx, number)
			if errors.Is(err, syscall.EADDRINUSE) {
				continue
			}
			if err != nil {
				return ports, guards, err
			}
			ports = append(ports, held)
		}
	}
	return ports, guards, nil
}

func holdPort(ctx context.Context, number int) (Port, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	return Port{listener}, err
}

// ReleasePorts releases all of the ports, and says which it could not.
func ReleasePorts(ports []Port) error {
	var errs []error
	for _, port := range ports {
		errs = append(errs, port.Release())
	}
	return errors.Join(errs...)
}

// Address is HOST:PORT.
func (p Port) Address() string {
	return p.listener.Addr().String()
}

// Release lets another process listen on the port. One that was released stays so.
func (p Port) Release() error {
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("release port %s: %w", p.Address(), err)
	}
	return nil
}
