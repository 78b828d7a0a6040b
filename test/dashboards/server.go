// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

const (
	// patience is how long Prometheus may take to be ready.
	patience = 2 * time.Minute
	// grace is how long it may take to end once it is asked to.
	grace = 20 * time.Second
)

// Serve starts the prometheus of this machine on a free port of the loopback
// interface, with its configuration and data in a folder. Agents may write to it, and it
// keeps exemplars. The function that it returns ends it.
func Serve(folder, config string) (*Prometheus, func(), error) {
	return serve(folder, config,
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.enable-remote-write-receiver", "--enable-feature=exemplar-storage")
}

// ServeAgent starts it as an agent, which answers no queries.
func ServeAgent(folder, config string) (stop func(), err error) {
	_, stop, err = serve(folder, config,
		"--enable-feature=agent", "--storage.agent.path="+filepath.Join(folder, "data"))
	return stop, err
}

func serve(folder, config string, flags ...string) (*Prometheus, func(), error) {
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, "prometheus",
		append([]string{"--config.file=" + file, "--web.listen-address=127.0.0.1:0"}, flags...)...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = grace
	log := &serverLog{address: make(chan string, 1)}
	command.Stderr = log
	if err := command.Start(); err != nil {
		cancel()
		return nil, nil, err
	}
	var failure error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failure = command.Wait()
	}()
	stop := func() {
		cancel()
		<-ended
	}
	select {
	case address := <-log.address:
		prometheus, err := NewPrometheus("http://" + address)
		if err != nil {
			stop()
		}
		return prometheus, stop, err
	case <-ended:
		cancel()
		return nil, nil, fmt.Errorf("prometheus ended before it was ready: %w\n%s", failure, log)
	case <-time.After(patience):
		stop()
		return nil, nil, fmt.Errorf("prometheus is not ready within %s\n%s", patience, log)
	}
}

// What a Prometheus logs until it answers: its address, and that it has read what it
// has stored. Two of its parts say so, each when it gets there: whichever comes first.
var (
	listening = regexp.MustCompile(`msg="Listening on" address=(\S+)\n`)
	loaded    = []byte(`msg="Server is ready to receive web requests."`)
)

// serverLog finds the address of a server that is ready in its log.
type serverLog struct {
	address chan string

	mu   sync.Mutex
	said bytes.Buffer
}

func (l *serverLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said.Write(text)
	address := listening.FindSubmatch(l.said.Bytes())
	if address == nil || !bytes.Contains(l.said.Bytes(), loaded) {
		return len(text), nil
	}
	select {
	case l.address <- string(address[1]):
	default:
		// It is known already.
	}
	return len(text), nil
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.String()
}
