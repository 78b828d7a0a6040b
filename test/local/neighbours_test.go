// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/waiting"
)

// Of what happens to one validator, and of what it may come to.
const (
	// openFiles is how many files the validators may have open: far fewer than
	// there are connections.
	openFiles = 300
	// idleConnections are opened again whenever they are closed.
	idleConnections = 1000
	// readers ask for all metrics, again and again.
	readers = 200
	// calmFor is how long the network is looked at before, at least.
	calmFor = 20 * time.Second
	// rounds of calm and attack tell an attack from what else a machine is busy with for
	// a while: the median of them counts.
	rounds = 3

	slowerByPercent = 25
	largerByPercent = 20
)

// attackTime is how long an attack goes on: ATTACK, which make attacks sets.
func attackTime(t *testing.T, byDefault time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("ATTACK")
	if text == "" {
		return byDefault
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("ATTACK: %v", err)
	}
	return duration
}

// calmOf is how long the network is looked at before an attack of some duration, in a
// round. Before the first it is as long, because memory is compared with what it was then,
// and a node remembers more and more for its first minutes.
func calmOf(duration time.Duration, round int) time.Duration {
	if round == 0 {
		return max(calmFor/2, duration)
	}
	return calmFor / 2
}

// Whoever reaches the HTTP port of a validator can keep as many connections open
// as they like and ask as often as they can: its network is as fast as before,
// and it needs no more memory.
func TestHostileNeighbours(t *testing.T) {
	duration := attackTime(t, time.Minute)
	network := upWith(t, t.TempDir(), openFiles)
	network.says(t, "load: 400 transfers per second")
	observer := watch(t, network)
	observer.awaitTransfers(t)
	const victim, twin, witness = 0, 1, 3
	var calm, troubled [rounds]look
	opened, answers := uint64(0), uint64(0)
	for i := range rounds {
		calm[i] = observer.lookAt(t, witness, calmOf(duration/rounds, i), victim, twin)
		attack := startAttack(t, observer.validators[victim].HTTP)
		troubled[i] = observer.lookAt(t, witness, duration/rounds, victim, twin)
		attack.stop()
		t.Logf("before: %s; meanwhile, for %s: %s; got through: %s", calm[i], duration/rounds, troubled[i], attack)
		opened, answers = opened+attack.opened.Load(), answers+attack.answers.Load()
	}

	median := medianRound(calm, troubled)
	troubled[median].compareBlocks(t, "the attack", calm[median])
	troubled[rounds-1].compareMemory(t, "the attack", calm[0])
	// How many come in depends on what the readers leave of the validator's rate.
	if opened <= openFiles || answers < readers {
		t.Errorf("too little got through to tell anything: %d connections, %d answers", opened, answers)
	}
	observer.noneEnded(t)
}

// noneEnded checks that all validators are the processes that they were, but for these.
func (o *observer) noneEnded(t *testing.T, but ...int) {
	t.Helper()
	for i, validator := range o.network.validators(t) {
		if !slices.Contains(but, i) && validator.PID != o.validators[i].PID {
			t.Errorf("%s ended and was started again", validator.Name)
		}
	}
}

// medianRound is the round in which an attack made blocks slower than in half of the
// others.
func medianRound(calm, troubled [rounds]look) int {
	slower := func(i int) float64 { return float64(troubled[i].blockTime) / float64(calm[i].blockTime) }
	order := make([]int, rounds)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(slower(a), slower(b)) })
	return order[rounds/2]
}

// look is what a network was seen to do.
type look struct {
	blocks    uint64
	blockTime time.Duration
	// residentKiB is the memory of some validators.
	residentKiB []uint64
}

func (l look) String() string {
	return fmt.Sprintf("%d blocks of %s, %d KiB resident", l.blocks, l.blockTime, l.residentKiB)
}

// lookAt measures the block time of a network, as one validator tells of the
// timestamps of finalised blocks, and then the memory of others.
func (o *observer) lookAt(t *testing.T, witness int, duration time.Duration, subjects ...int) look {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	var first, last *chain.Status
	moved := time.Now()
	for first == nil || elapsed(first, last) < duration {
		<-ticker.C
		status := o.ask(t)[witness]
		if status != nil && (last == nil || status.FinalizedHeight > last.FinalizedHeight) {
			last, moved = status, time.Now()
		}
		if first == nil {
			first = last
		}
		if time.Since(moved) > waiting.Patience {
			t.Fatalf("no block was finalised for %s", waiting.Patience)
		}
	}
	seen := look{blocks: last.FinalizedHeight - first.FinalizedHeight}
	seen.blockTime = elapsed(first, last) / time.Duration(seen.blocks) //nolint:gosec // far fewer than 2^63
	for _, subject := range subjects {
		seen.residentKiB = append(seen.residentKiB, residentKiB(t, o.validators[subject].PID))
	}
	return seen
}

// elapsed is the time between two finalised blocks.
func elapsed(from, to *chain.Status) time.Duration {
	return time.Duration(to.FinalizedTimeMs-from.FinalizedTimeMs) * time.Millisecond
}

// residentKiB is the resident memory of a process.
func residentKiB(t *testing.T, pid int) uint64 {
	t.Helper()
	file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "VmRSS:"); found {
			kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatalf("process %d does not say how much memory it has", pid)
	return 0
}

// attack is what is done to a validator's HTTP port, with half a processor at
// most.
type attack struct {
	address string
	cancel  context.CancelFunc
	running sync.WaitGroup
	budget  budget

	opened, answers, bytes, failures atomic.Uint64
}

func startAttack(t *testing.T, address string) *attack {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started := &attack{address: address, cancel: cancel, budget: newBudget()}
	t.Cleanup(started.stop)
	for range idleConnections {
		started.running.Go(func() { started.repeat(ctx, started.idle) })
	}
	for range readers {
		started.running.Go(func() { started.repeat(ctx, started.read) })
	}
	return started
}

func (a *attack) stop() {
	a.cancel()
	a.running.Wait()
}

func (a *attack) String() string {
	return fmt.Sprintf("%d connections opened and kept idle, %d answers with %d MiB, %d failures, %.1f s of processor time",
		a.opened.Load(), a.answers.Load(), a.bytes.Load()>>20, a.failures.Load(), a.budget.used().Seconds())
}

func (a *attack) repeat(ctx context.Context, once func(context.Context) error) {
	for a.budget.wait(ctx) {
		if err := once(ctx); err != nil && ctx.Err() == nil {
			a.failures.Add(1)
		}
	}
}

// idle keeps a connection open until it is closed.
func (a *attack) idle(ctx context.Context) error {
	connection, err := (&net.Dialer{Timeout: waiting.Patience}).DialContext(ctx, "tcp", a.address)
	if err != nil {
		return err
	}
	defer connection.Close()
	a.opened.Add(1)
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	_, err = connection.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// read reads all metrics once.
func (a *attack) read(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	count, err := io.Copy(io.Discard, response.Body)
	a.bytes.Add(uint64(count)) //nolint:gosec // a count of bytes is not negative
	if err == nil {
		a.answers.Add(1)
	}
	return err
}

// budget is half of a processor.
type budget struct {
	began time.Time
	spent time.Duration
}

func newBudget() budget {
	return budget{began: time.Now(), spent: processorTime()}
}

func (b budget) used() time.Duration {
	return processorTime() - b.spent
}

// wait waits until there is something left; false when the context ends.
func (b budget) wait(ctx context.Context) bool {
	for b.used() > time.Since(b.began)/2 {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return ctx.Err() == nil
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	// It fails only for an unknown process.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
