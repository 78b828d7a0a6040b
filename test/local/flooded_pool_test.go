// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/test/waiting"
)

// Of whoever floods a pool.
const (
	// floodClients submit messagesPerSecond transactions together.
	floodClients = 32
	// floodList is how many transactions a request has: the most that one may.
	floodList = 200
	// floodLists are made of each kind before, and submitted again and again.
	floodLists = 8
	// floodPayers have what they send for: eight fill a pool.
	floodPayers = 8
	floodFunds  = 1_000_000
	// leastBalance is what a transfer moves at least, unless spec.protocol says otherwise.
	leastBalance = 10
	// freshBlocks is how many blocks after the newest final one that its node knows of, which
	// may be two behind, the pool still has to take a transfer.
	freshBlocks = 6
	// leastOfKind is how many of each kind have to get through for a flood to tell anything.
	leastOfKind = 10_000
	leastTaken  = 1_000
)

// rejectedTotal counts what pools refused, by reason.
const rejectedTotal = "shardnode_pool_rejected_total"

// Whoever reaches the HTTP port of a producer can give its pool what it has to refuse,
// signature for signature, and what expires there: its network is as fast as before, and it
// needs no more memory.
func TestFloodedPool(t *testing.T) {
	duration := attackTime(t, time.Minute)
	network := up(t, t.TempDir(), "-f", withoutLoad(t))
	network.says(t, "genesis hash ")
	observer := watch(t, network)
	const victim, twin, witness = 0, 1, 3
	flood := newFlood(t, network, observer.validators[victim])
	for _, producer := range []string{"small-s0-p0", "small-s0-p1", "small-s1-p0", "small-s1-p1"} {
		if _, err := network.admin(t, producer).SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 100}); err != nil {
			t.Fatal(err)
		}
	}
	observer.awaitTransfers(t)
	var calm, troubled [rounds]look
	for i := range rounds {
		calm[i] = observer.lookAt(t, witness, calmOf(duration/rounds, i), victim, twin)
		stop := flood.begin(t)
		troubled[i] = observer.lookAt(t, witness, duration/rounds, victim, twin)
		used := stop()
		t.Logf("before: %s; meanwhile, for %s: %s; with %.1f s of processor time", calm[i], duration/rounds, troubled[i], used.Seconds())
	}

	refused := flood.counted(t)
	t.Logf("of %d transactions the pool took %d; refused: %v; %d requests had no answer for all that",
		flood.sent.Load(), flood.taken.Load(), refused, flood.shed.Load())
	median := medianRound(calm, troubled)
	troubled[median].compareBlocks(t, "the flood", calm[median])
	troubled[rounds-1].compareMemory(t, "the flood", calm[0])
	for _, reason := range flood.reasons {
		if refused[reason] < leastOfKind {
			t.Errorf("too little got through to tell anything: %d refused for %s", refused[reason], reason)
		}
	}
	if flood.taken.Load() < leastTaken {
		t.Errorf("too little got through to tell anything: the pool took %d", flood.taken.Load())
	}
	observer.noneEnded(t)
}

// flood is what is given to a producer's pool.
type flood struct {
	client *chain.Client
	http   *http.Client
	url    string
	on     account.Chain
	// refused are requests of which the pool takes nothing, one for each of reasons in turn.
	refused [][]byte
	reasons []string
	// payers sign what it takes.
	payers []*payer

	turns, sent, taken, shed atomic.Uint64
}

// payer is an account with funds, and the nonce that it used last.
type payer struct {
	key   keys.Key
	nonce atomic.Uint64
}

// newFlood makes accounts with funds, and requests that are refused.
func newFlood(t *testing.T, network *command, victim validatorProcess) *flood {
	t.Helper()
	client := chain.NewClient(victim.HTTP, chain.Admin{})
	t.Cleanup(client.Close)
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &flood{
		client: client, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodClients}}, url: "http://" + victim.HTTP + "/rpc",
		on: account.Chain{Network: status.Network, GenesisHash: status.GenesisHash},
	}
	here := []string{"--state-dir", network.stateDir, "--network", "small"}
	for range floodPayers {
		key := ownKey(t)
		network.transfer(t, here, "--from", "genesis/0", "--to", account.Of(key).String(), "--amount", fmt.Sprint(floodFunds))
		paid := &payer{key: key}
		paid.nonce.Store(f.account(t, key).Nonce)
		f.payers = append(f.payers, paid)
	}
	f.makeRefused(t)
	return f
}

// ownKey is the key of an account of the victim's shard.
func ownKey(t *testing.T) keys.Key {
	t.Helper()
	for {
		key, err := keys.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if account.ShardOf(account.Of(key), 2) == 0 {
			return key
		}
	}
}

func (f *flood) account(t *testing.T, key keys.Key) *chain.Account {
	t.Helper()
	var found *chain.Account
	waiting.Until(t, "the account has funds", func() bool {
		answer, err := f.client.Account(t.Context(), account.Of(key).String())
		if err != nil {
			t.Fatal(err)
		}
		found = answer
		return answer.Exists
	})
	return found
}

// makeRefused makes requests whose transfers are refused, each for one reason alone.
func (f *flood) makeRefused(t *testing.T) {
	t.Helper()
	owner, stranger := f.payers[0], ownKey(t)
	nonce := owner.nonce.Load()
	// So far above what is used that these are refused for nothing else.
	const unused = 1 << 19
	receiver := account.Of(f.payers[1].key)
	transfers := map[string]struct {
		signer   keys.Key
		transfer account.Transfer
	}{
		"signature":  {owner.key, account.Transfer{Receiver: receiver, Amount: leastBalance, Nonce: nonce + unused}},
		"no_account": {stranger, account.Transfer{Receiver: receiver, Amount: leastBalance, Nonce: unused}},
		"nonce":      {owner.key, account.Transfer{Receiver: receiver, Amount: leastBalance, Nonce: nonce}},
		"expired":    {owner.key, account.Transfer{Receiver: receiver, Amount: leastBalance, Nonce: nonce + unused, ExpiresAt: 1}},
		"balance":    {owner.key, account.Transfer{Receiver: receiver, Amount: 2 * floodFunds, Nonce: nonce + unused}},
	}
	f.reasons = slices.Sorted(maps.Keys(transfers))
	for range floodLists {
		for _, reason := range f.reasons {
			of := transfers[reason]
			list := make([]account.Transaction, floodList)
			for i := range list {
				of.transfer.Amount++
				list[i] = of.transfer.Sign(of.signer, f.on)
				if reason == "signature" {
					list[i][len(list[i])-1] ^= 1
				}
			}
			body, err := submission(list)
			if err != nil {
				t.Fatal(err)
			}
			f.refused = append(f.refused, body)
		}
	}
}

// begin floods the pool until it is stopped, with half a processor at most, which says how
// much of it was used.
func (f *flood) begin(t *testing.T) (stop func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	budget := newBudget()
	pace := time.NewTicker(time.Second * floodList / messagesPerSecond)
	due := func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-pace.C:
			return budget.wait(ctx)
		}
	}
	var running sync.WaitGroup
	for range floodClients {
		running.Go(func() {
			for due() {
				if err := f.submit(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("submit to the pool that is flooded: %v", err)
					return
				}
			}
		})
	}
	stop = func() time.Duration {
		cancel()
		running.Wait()
		pace.Stop()
		return budget.used()
	}
	t.Cleanup(func() { stop() })
	return stop
}

// submit gives the pool one list, of each kind in its turn.
func (f *flood) submit(ctx context.Context) error {
	turn := f.turns.Add(1)
	kind := turn % uint64(len(f.refused)+1)
	if kind < uint64(len(f.refused)) {
		_, err := f.post(ctx, f.refused[kind])
		return err
	}
	body, err := f.fresh(ctx, turn)
	if err != nil {
		return err
	}
	answer, err := f.post(ctx, body)
	if err != nil {
		return err
	}
	taken := bytes.Count(answer, []byte(`"hash":`)) - bytes.Count(answer, []byte(`"refused":`))
	f.taken.Add(uint64(taken)) //nolint:gosec // whatever is refused has a hash
	return nil
}

// fresh are transfers that the pool takes, and that expire unless one of the next chunks has
// them.
func (f *flood) fresh(ctx context.Context, turn uint64) ([]byte, error) {
	status, err := f.client.Status(ctx)
	if err != nil {
		return nil, err
	}
	payer, receiver := f.payers[turn%floodPayers], f.payers[(turn+1)%floodPayers]
	last := payer.nonce.Add(floodList)
	list := make([]account.Transaction, floodList)
	for i := range list {
		transfer := account.Transfer{
			Receiver: account.Of(receiver.key), Amount: leastBalance,
			Nonce: last - floodList + 1 + uint64(i), ExpiresAt: status.FinalizedHeight + freshBlocks,
		}
		list[i] = transfer.Sign(payer.key, f.on)
	}
	return submission(list)
}

// post sends a request and returns its answer.
func (f *flood) post(ctx context.Context, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := f.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	switch {
	case response.StatusCode == http.StatusServiceUnavailable:
		// The node is busy, and says so.
		f.shed.Add(1)
		return nil, nil
	case response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"transfers":`)):
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, answer)
	}
	f.sent.Add(floodList)
	return answer, nil
}

// counted is what the node says that its pool refused, by reason.
func (f *flood) counted(t *testing.T) map[string]uint64 {
	t.Helper()
	metrics, err := f.client.CountersOf(t.Context(), rejectedTotal)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for _, series := range metrics[rejectedTotal].GetMetric() {
		for _, label := range series.GetLabel() {
			if label.GetName() == "reason" {
				counts[label.GetValue()] = uint64(series.GetUntyped().GetValue())
			}
		}
	}
	return counts
}

// submission is the body of a request.
func submission(list []account.Transaction) ([]byte, error) {
	words := make([]string, len(list))
	for i, transaction := range list {
		words[i] = transaction.String()
	}
	return json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "transfers_submit", "params": map[string]any{"transactions": words},
	})
}
