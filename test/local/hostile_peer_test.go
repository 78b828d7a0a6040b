// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/scripts"
	"github.com/shardyard/shardyard/test/waiting"
)

const (
	// messagesPerSecond is what a hostile peer sends one validator.
	messagesPerSecond = 20_000
	// questionsPerSecond is how many messages on the channel for chunks a validator
	// takes in of one peer (docs/protocol.md, "By channel").
	questionsPerSecond = 1_024
)

// A validator with a valid key that sends another one what nobody can use, what it
// was sent itself, or question after question, on one channel after the other, and
// that then reads no answer: the network is as fast as with one that says nothing,
// or that only passes for one that takes part, and the other validator needs no more memory.
func TestHostilePeer(t *testing.T) {
	s := &siege{
		hostile: newHostilePeer(t), duration: attackTime(t, 15*time.Second), victim: 0, twin: 1, witness: 1, attacker: 3,
	}
	s.network = upNode(t, t.TempDir(), s.hostile.program, openFiles)
	s.network.says(t, "load: 400 transfers per second")
	s.observer = watch(t, s.network)
	s.observer.awaitTransfers(t)
	// Whoever sends what no honest peer sends is cut off.
	s.judge(t, "garbage", "silence", func() (troubled look, unheard error) {
		return s.flood(t, "garbage", 0, 0.001)
	})
	// Whoever asks too much is not heard for a while.
	s.judge(t, "questions", "silence", func() (troubled look, unheard error) {
		const most = float64(questionsPerSecond) / messagesPerSecond
		return s.flood(t, "questions", most/2, 1.1*most)
	})
	s.judge(t, "deafness", "silence", func() (troubled look, unheard error) {
		// It asks on, and reads nothing any more: the validator lets it go.
		s.begin(t, "questions")
		const all = 5
		s.observer.eventually(t, "the peer is connected", func(statuses []*chain.Status) bool {
			return statuses[s.victim] != nil && statuses[s.victim].Peers == all
		})
		s.hostile.signal(t, syscall.SIGSTOP)
		troubled = s.lookAt(t, s.duration)
		s.observer.eventually(t, "the deaf peer is let go", func(statuses []*chain.Status) bool {
			return statuses[s.victim] != nil && statuses[s.victim].Peers < all
		})
		return troubled, nil
	})
	// Whoever repeats certificates is waited for when its turns come.
	s.judge(t, "echo", "presence", func() (troubled look, unheard error) {
		return s.flood(t, "echo", 0, 0.025)
	})
	s.observer.noneEnded(t, s.attacker)
}

// siege is a network with a hostile peer.
type siege struct {
	hostile  *hostilePeer
	network  *command
	observer *observer
	// Of the validators, the attacker attacks the victim, whose twin is of the same shard, and
	// the witness tells of the blocks.
	victim, twin, witness, attacker int
	// duration is how long each attack goes on.
	duration time.Duration
	// first is what the network was like before all attacks; nil until then.
	first *look
}

// judge checks what an attack does to the network: blocks take no longer than in a calm look
// just before it, at a peer that does something harmless, and the victim has no more memory
// than it had before all attacks. Where it seems otherwise, the median of three rounds counts:
// something else may have made the machine busier in one of them.
func (s *siege) judge(t *testing.T, name, harmless string, attack func() (troubled look, unheard error)) {
	t.Helper()
	// The median is too much if most are.
	var slower, larger, unheard []error
	add := func(to *[]error, err error) {
		if err != nil {
			*to = append(*to, err)
		}
	}
	for round := range rounds {
		calm := s.calm(t, harmless)
		troubled, missed := attack()
		t.Logf("%s, round %d: before: %s; meanwhile, for %s: %s", name, round+1, calm, s.duration, troubled)
		add(&slower, troubled.slowerThan(calm))
		add(&larger, troubled.largerThan(*s.first))
		add(&unheard, missed)
		if round == 0 && len(slower)+len(larger)+len(unheard) == 0 {
			return
		}
	}
	for _, found := range [][]error{slower, larger, unheard} {
		if len(found) > rounds/2 {
			t.Errorf("%s, in %d of %d rounds: %v", name, len(found), rounds, errors.Join(found...))
		}
	}
}

// flood has the hostile peer send the victim messages in some way, and checks how many of them
// the victim receives: at most some part, and enough to tell anything.
func (s *siege) flood(t *testing.T, attack string, leastPart, mostPart float64) (troubled look, unheard error) {
	t.Helper()
	earlier := s.begin(t, attack)
	began := time.Now()
	troubled = s.lookAt(t, s.duration)
	received, took := s.received(t)-earlier, time.Since(began)
	t.Logf("the validator received %d messages of it in %s; it says: %s",
		received, took.Round(time.Second), s.hostile.says(t, s.network, s.attacker))
	sent := messagesPerSecond * took.Seconds()
	if most := mostPart * sent; float64(received) > most {
		t.Errorf("%s: the validator received %d messages, want at most %.0f", attack, received, most)
	}
	if least := leastPart * sent; float64(received) < least {
		unheard = fmt.Errorf("too little got through to tell anything: %d messages, want at least %.0f", received, least)
	}
	return troubled, unheard
}

// calm looks at the network before an attack, once the hostile peer does something harmless.
func (s *siege) calm(t *testing.T, harmless string) look {
	t.Helper()
	if harmless == "silence" {
		// A leader of which nothing is heard is waited for until it has said nothing for long
		// enough to be passed over.
		s.hostile.become(t, s.network, s.attacker, harmless)
		earlier := s.passedOver(t)
		waiting.Until(t, "the silent peer is passed over", func() bool { return s.passedOver(t) > earlier })
	} else {
		s.begin(t, harmless)
	}
	if s.first != nil {
		return s.lookAt(t, calmOf(s.duration, 1))
	}
	calm := s.lookAt(t, calmOf(s.duration, 0))
	s.first = &calm
	return calm
}

func (s *siege) lookAt(t *testing.T, duration time.Duration) look {
	t.Helper()
	return s.observer.lookAt(t, s.witness, duration, s.victim, s.twin)
}

// begin has the hostile peer attack, and returns how much of it the victim had received
// before.
func (s *siege) begin(t *testing.T, attack string) (earlier uint64) {
	t.Helper()
	s.hostile.become(t, s.network, s.attacker, attack)
	earlier = s.received(t)
	// Whoever was cut off for the attack before is heard again after a while.
	waiting.Until(t, attack+" is heard", func() bool { return s.received(t) > earlier })
	return earlier
}

// received is how many messages of the hostile peer the victim received, of all times.
func (s *siege) received(t *testing.T) uint64 {
	t.Helper()
	return s.tells(t, "p2p_spawner_messages_received_total")
}

// passedOver is how often the victim did not wait for the hostile peer when its turn came.
func (s *siege) passedOver(t *testing.T) uint64 {
	t.Helper()
	return s.tells(t, "chain_simplex_voter_state_timeouts_total", `reason="Inactivity"`)
}

// tells is the sum of what a metric of the victim tells of the hostile peer, in series with
// these labels.
func (s *siege) tells(t *testing.T, metric string, labels ...string) uint64 {
	t.Helper()
	labels = append(labels, s.hostile.key(t, s.network, s.attacker))
	request, err := http.NewRequestWithContext(
		t.Context(), http.MethodGet, "http://"+s.observer.validators[s.victim].HTTP+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	sum := uint64(0)
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		line := lines.Text()
		missing := func(label string) bool { return !strings.Contains(line, label) }
		if !strings.HasPrefix(line, metric+"{") || slices.ContainsFunc(labels, missing) {
			continue
		}
		count, err := strconv.ParseUint(line[strings.LastIndexByte(line, ' ')+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += count
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}

func (l look) compareBlocks(t *testing.T, attack string, calm look) {
	t.Helper()
	if err := l.slowerThan(calm); err != nil {
		t.Errorf("%s: %v", attack, err)
	}
}

func (l look) compareMemory(t *testing.T, attack string, calm look) {
	t.Helper()
	if err := l.largerThan(calm); err != nil {
		t.Errorf("%s: %v", attack, err)
	}
}

// slowerThan says whether blocks took longer under an attack than before it.
func (l look) slowerThan(calm look) error {
	if l.blockTime > calm.blockTime*(100+slowerByPercent)/100 {
		return fmt.Errorf("blocks took %s, and %s before", l.blockTime, calm.blockTime)
	}
	return nil
}

// largerThan says whether a victim has more memory under an attack than before it.
func (l look) largerThan(calm look) error {
	// What a validator of the same shard needs more that nobody troubles is not the attack's.
	most := calm.residentKiB[0] + l.residentKiB[1] - min(l.residentKiB[1], calm.residentKiB[1])
	if l.residentKiB[0] > most*(100+largerByPercent)/100 {
		return fmt.Errorf("the validator has %d KiB of memory; by what it had before, and what its twin has, it would be %d",
			l.residentKiB[0], most)
	}
	return nil
}

// hostilePeer takes the place of a node program from when it is told.
type hostilePeer struct {
	// program runs nodes, and the hostile peer in the place of one of them.
	program string
	// orders is what that one has to do, and process the id of the hostile peer that does it;
	// they are not there while it is a node.
	orders, process string
}

func newHostilePeer(t *testing.T) *hostilePeer {
	t.Helper()
	shardnode, err := findShardnode()
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs("../../bin/shardnode-hostile-peer")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("this test needs the program that make build-hostile-peer makes: %v", err)
	}
	directory := t.TempDir()
	h := &hostilePeer{
		program: filepath.Join(directory, "shardnode"), orders: filepath.Join(directory, "orders"), process: filepath.Join(directory, "process"),
	}
	// Whoever keeps validators running gives one up that ends again and again and was never
	// ready: it sees one process, and not that another hostile peer follows one that is killed.
	script := fmt.Sprintf(`#!/bin/sh
case "$1 $*" in
"run "*-s1-p1*)
	while [ -s %[1]s ]; do
		setpriv --pdeathsig KILL sh -c 'echo $$ >%[2]s && exec "$@"' sh %[3]s $(cat %[1]s) %[5]d "$@"
		[ $? -eq 137 ] || exit 1
	done
	;;
esac
exec %[4]s "$@"
`, h.orders, h.process, program, shardnode, messagesPerSecond)
	scripts.Write(t, h.program, script)
	return h
}

// become has the validator be gone and the hostile peer be there in its place,
// attacking.
func (h *hostilePeer) become(t *testing.T, network *command, attacker int, attack string) {
	t.Helper()
	if err := os.WriteFile(h.orders, []byte(attack), 0o600); err != nil {
		t.Fatal(err)
	}
	validator := network.validators(t)[attacker]
	want := fmt.Sprintf(" attacks by %s", attack)
	// It may have attacked like that before.
	times := func() int { return strings.Count(strings.ToLower(network.log(t, validator.Name)), want) }
	before := times()
	if _, err := os.Stat(h.process); errors.Is(err, fs.ErrNotExist) {
		if err := syscall.Kill(validator.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	} else {
		h.signal(t, syscall.SIGKILL)
	}
	waiting.Until(t, validator.Name+want, func() bool { return times() > before })
}

// signal signals the hostile peer, which attacks.
func (h *hostilePeer) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	content, err := os.ReadFile(h.process)
	if err != nil {
		t.Fatal(err)
	}
	process, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(process, signal); err != nil {
		t.Fatal(err)
	}
}

// says is the last line that the hostile peer wrote.
func (h *hostilePeer) says(t *testing.T, network *command, attacker int) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(network.log(t, network.validators(t)[attacker].Name)), "\n")
	return lines[len(lines)-1]
}

// key is the public key of the hostile peer, as it says.
func (h *hostilePeer) key(t *testing.T, network *command, attacker int) string {
	t.Helper()
	key := ""
	for line := range strings.Lines(network.log(t, network.validators(t)[attacker].Name)) {
		if before, _, found := strings.Cut(line, " attacks by "); found {
			key = before
		}
	}
	if key == "" {
		t.Fatal("the hostile peer does not say who it is")
	}
	return key
}

// log is what a validator wrote.
func (c *command) log(t *testing.T, validator string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.stateDir, "small", "nodes", validator, "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
