// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/topology"
)

// signedBefore is a load that takes 2100 transfers: 100 per second, for a second of
// warm-up, for ten that are measured, and for ten more.
func signedBefore(t *testing.T) *loading.Load {
	t.Helper()
	load, err := loading.NewRun(&v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](100)},
		Workload: &v1alpha1.Workload{Senders: v1alpha1.SendersUniform}, Signing: v1alpha1.SigningBefore,
	}, time.Second, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return load
}

// stocks checks how much is signed.
func stocks(t *testing.T, driver *loading.Driver, signed int64, complete bool) {
	t.Helper()
	stocked, err := driver.SignBefore(t.Context())
	if err != nil || stocked.Transfers != 2100 || stocked.Signed != signed || stocked.Complete() != complete {
		t.Fatalf("%+v are signed, want %d: %v", stocked, signed, err)
	}
}

// Each producer signs its share, is told so once, and has it when the load begins.
func TestSignBefore(t *testing.T) {
	t.Parallel()
	first, second, driver, refused := driven(t, signedBefore(t))
	second.set(func(p *producer) { p.refuses = true })
	stocks(t, driver, 0, false)
	first.set(func(p *producer) { p.load.Stock.Signed = 1050 })
	// It is told again until it answers, and the other one is not.
	stocks(t, driver, 1050, false)
	second.set(func(p *producer) { p.refuses = false })
	stocks(t, driver, 1050, false)
	second.set(func(p *producer) { p.load.Stock.Signed = 1050 })
	stocks(t, driver, 2100, true)
	if !driver.Apply(t.Context(), 100) {
		t.Fatalf("not all took their share: %+v", driver.Refusal())
	}
	for _, p := range []*producer{first, second} {
		if load := p.load; load.Signing != chain.SigningBefore || load.Workload.Senders != "Uniform" || load.Stock.Transfers != 1050 {
			t.Errorf("%s was told %+v, with %+v", p.name, load, load.Stock)
		}
	}
	if err := driver.Stop(t.Context()); err != nil || first.load.Stock != nil || second.load.Stock != nil {
		t.Errorf("after the load they still have %+v and %+v: %v", first.load.Stock, second.load.Stock, err)
	}
	if len(refused) > 0 {
		t.Errorf("refusals were told: %v", refused)
	}
}

// Of a fixed count, all of it is signed before and nothing besides, and whoever has some
// of it is told to sign as much as it can.
func TestAFixedCount(t *testing.T) {
	t.Parallel()
	for transfers, want := range map[int64][2]int64{1: {0, 1}, 7: {3, 4}} {
		load, err := loading.NewRun(&v1alpha1.LoadSpec{
			Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: transfers},
			Signing: v1alpha1.SigningBefore,
		}, 0, time.Minute)
		if err != nil || load.Count != transfers || load.Rate(0) != 0 {
			t.Fatalf("%d transfers are %+v: %v", transfers, load, err)
		}
		first, second, driver, _ := driven(t, load)
		if stocked, err := driver.SignBefore(t.Context()); err != nil || stocked.Transfers != transfers {
			t.Fatalf("%+v are signed, want %d: %v", stocked, transfers, err)
		}
		if !driver.Apply(t.Context(), load.Rate(0)) {
			t.Fatalf("not all took their share: %+v", driver.Refusal())
		}
		for i, p := range []*producer{first, second} {
			var stock, rate int64
			if p.load.Stock != nil {
				stock = p.load.Stock.Transfers
			}
			if want[i] > 0 {
				rate = 1_000_000
			}
			if stock != want[i] || p.load.TransfersPerSecond != rate {
				t.Errorf("of %d, %s signs %d before, want %d, and then %d per second, want %d",
					transfers, p.name, stock, want[i], p.load.TransfersPerSecond, rate)
			}
		}
		var run result.Run
		if load.Conclude(&run, driver.Validators()); run.SignedBefore != transfers {
			t.Errorf("the record says that %d were signed before, want %d", run.SignedBefore, transfers)
		}
	}
}

// What cannot be waited for is an error that names the validator and the reason.
func TestWhatIsNotSignedBefore(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*producer){
		"validator second was told to sign 1050 transfers before, and has none or others": func(p *producer) {
			p.load.Stock = nil
		},
		"has none or others: it was started again": func(p *producer) { p.load.Stock.Transfers = 7 },
		"validator second does not keep the transfers that it signs before: no space": func(p *producer) {
			p.load.Stock.Failure = "no space"
		},
	}
	for want, wrong := range cases {
		_, second, driver, _ := driven(t, signedBefore(t))
		if _, err := driver.SignBefore(t.Context()); err != nil {
			t.Fatal(err)
		}
		second.set(wrong)
		if _, err := driver.SignBefore(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// Where transfers are signed when they are due, there is nothing to wait for.
func TestNothingIsSignedBefore(t *testing.T) {
	t.Parallel()
	first, _, driver, _ := driven(t, newLoop())
	if stocked, err := driver.SignBefore(t.Context()); err != nil || !stocked.Complete() || first.load.Stock != nil {
		t.Errorf("%+v are signed, and %+v: %v", stocked, first.load.Stock, err)
	}
}

// The record of a run says what was signed before.
func TestConclude(t *testing.T) {
	t.Parallel()
	validators := []topology.Validator{{Role: topology.RoleProducer}, {Role: topology.RoleChunkValidator}}
	var run result.Run
	signedBefore(t).Conclude(&run, validators)
	want := "2100 transfers were signed before the load began: what is measured of the nodes is without signing"
	if run.SignedBefore != 2100 || len(run.Notes) != 1 || run.Notes[0] != want {
		t.Errorf("%d were signed before, and the notes are %q, want %q", run.SignedBefore, run.Notes, want)
	}
	run = result.Run{}
	newLoop().Conclude(&run, validators)
	if run.SignedBefore != 0 || len(run.Notes) > 0 {
		t.Errorf("of a closed loop, %d were signed before, and the notes are %q", run.SignedBefore, run.Notes)
	}
}
