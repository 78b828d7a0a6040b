// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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
// and the other validator needs no more memory.
func TestHostilePeer(t *testing.T) {
	duration := attackTime(t, 15*time.Second)
	hostile := newHostilePeer(t)
	network := upNode(t, t.TempDir(), hostile.program, openFiles)
	network.says(t, "load: 400 transfers per second")
	observer := watch(t, network)
	observer.awaitTransfers(t)
	const victim, twin, witness, attacker = 0, 1, 1, 3

	hostile.become(t, network, attacker, "silence")
	calm := observer.lookAt(t, witness, max(calmFor, duration), victim, twin)
	t.Logf("with a silent peer: %s", calm)
	for _, attack := range []struct {
		name string
		// part is which part of what it sends the other one takes in, at most.
		part float64
	}{
		// Whoever sends what no honest peer sends is cut off.
		{"garbage", 0.001},
		{"echo", 0.025},
		// Whoever asks too much is not heard for a while.
		{"questions", 1.1 * questionsPerSecond / messagesPerSecond},
	} {
		hostile.become(t, network, attacker, attack.name)
		earlier := hostile.received(t, network, victim, attacker)
		// Whoever was cut off for the attack before is heard again after a while.
		waiting.Until(t, attack.name+" is heard", func() bool {
			return hostile.received(t, network, victim, attacker) > earlier
		})
		began := time.Now()
		troubled := observer.lookAt(t, witness, duration, victim, twin)
		received, took := hostile.received(t, network, victim, attacker)-earlier, time.Since(began)
		t.Logf("%s for %s: %s; the validator received %d messages of it; it says: %s",
			attack.name, took.Round(time.Second), troubled, received, hostile.says(t, network, attacker))
		troubled.compare(t, attack.name, calm)
		if most := attack.part * messagesPerSecond * took.Seconds(); float64(received) > most {
			t.Errorf("%s: the validator received %d messages, want at most %.0f", attack.name, received, most)
		}
		if least := questionsPerSecond / 2 * took.Seconds(); attack.name == "questions" && float64(received) < least {
			t.Errorf("too little got through to tell anything: %d messages, want at least %.0f", received, least)
		}
	}
	// It asks on, and reads nothing any more: the validator lets it go.
	const all = 5
	observer.eventually(t, "the peer is connected", func(statuses []*chain.Status) bool {
		return statuses[victim] != nil && statuses[victim].Peers == all
	})
	if err := syscall.Kill(network.validators(t)[attacker].PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	deaf := observer.lookAt(t, witness, duration, victim, twin)
	t.Logf("deaf for %s: %s", duration, deaf)
	deaf.compare(t, "deafness", calm)
	observer.eventually(t, "the deaf peer is let go", func(statuses []*chain.Status) bool {
		return statuses[victim] != nil && statuses[victim].Peers < all
	})
	observer.noneEnded(t, attacker)
}

// compare compares what was seen of a victim and its twin under an attack with what
// was seen of them before.
func (l look) compare(t *testing.T, attack string, calm look) {
	t.Helper()
	l.compareBlocks(t, attack, calm)
	l.compareMemory(t, attack, calm)
}

func (l look) compareBlocks(t *testing.T, attack string, calm look) {
	t.Helper()
	if l.blockTime > calm.blockTime*(100+slowerByPercent)/100 {
		t.Errorf("%s: blocks took %s, and %s before", attack, l.blockTime, calm.blockTime)
	}
}

func (l look) compareMemory(t *testing.T, attack string, calm look) {
	t.Helper()
	// What a validator of the same shard needs more that nobody troubles is not the attack's.
	most := calm.residentKiB[0] + l.residentKiB[1] - min(l.residentKiB[1], calm.residentKiB[1])
	if l.residentKiB[0] > most*(100+largerByPercent)/100 {
		t.Errorf("%s: the validator has %d KiB of memory; by what it had before, and what its twin has, it would be %d",
			attack, l.residentKiB[0], most)
	}
}

// hostilePeer takes the place of a node program from when it is told.
type hostilePeer struct {
	// program runs nodes, and the hostile peer in the place of one of them.
	program string
	// orders is what that one has to do; empty while it is a node.
	orders string
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
	h := &hostilePeer{program: filepath.Join(directory, "shardnode"), orders: filepath.Join(directory, "orders")}
	script := fmt.Sprintf(`#!/bin/sh
case "$1 $*" in
"run "*-s1-p1*) [ ! -s %[1]s ] || exec %[2]s $(cat %[1]s) %[4]d "$@" ;;
esac
exec %[3]s "$@"
`, h.orders, program, shardnode, messagesPerSecond)
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
	if err := syscall.Kill(validator.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(" attacks by %s", attack)
	waiting.Until(t, validator.Name+want, func() bool {
		return strings.Contains(strings.ToLower(network.log(t, validator.Name)), want)
	})
}

// says is the last line that the hostile peer wrote.
func (h *hostilePeer) says(t *testing.T, network *command, attacker int) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(network.log(t, network.validators(t)[attacker].Name)), "\n")
	return lines[len(lines)-1]
}

// received is how many messages of the hostile peer a validator received, of all
// times.
func (h *hostilePeer) received(t *testing.T, network *command, victim, attacker int) uint64 {
	t.Helper()
	validators := network.validators(t)
	key := ""
	for line := range strings.Lines(network.log(t, validators[attacker].Name)) {
		if before, _, found := strings.Cut(line, " attacks by "); found {
			key = before
		}
	}
	if key == "" {
		t.Fatal("the hostile peer does not say who it is")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+validators[victim].HTTP+"/metrics", http.NoBody)
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
		if !strings.HasPrefix(line, "p2p_spawner_messages_received_total{") || !strings.Contains(line, key) {
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

// log is what a validator wrote.
func (c *command) log(t *testing.T, validator string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.stateDir, "small", "nodes", validator, "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
